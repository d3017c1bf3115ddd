"""What a run of practice is measured by: anchor and recall from before, alarms, signs of an exploited reward.

What is done about them is in learning.practice.run.
"""
