"""Where evaluations run: pools of workers, the channels to them, and the Ray cluster they live in.

The only package that imports ray; ``open_pool`` is the entry point, and nothing heavy is loaded before it is called.
"""
