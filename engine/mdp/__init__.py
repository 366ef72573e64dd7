"""Games as decision processes: seats that observe, act and are rewarded, as coroutines or as arrays."""
