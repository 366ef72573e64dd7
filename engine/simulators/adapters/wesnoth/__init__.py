"""Battle for Wesnoth 1.16: the installed game, driven in batches through a small add-on of ours."""
