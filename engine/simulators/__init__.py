"""Games as the engine sees them: the contract, its conformance check, and every way to reach a program that plays."""
