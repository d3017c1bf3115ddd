"""`vidya serve`: the model behind OpenAI's interface, on this machine alone, with lessons by `/v1/feedback`.

starlette and uvicorn are imported only when the command runs.
"""
