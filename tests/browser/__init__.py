"""A package, so that the browser lives as long as these tests and no longer: its event loop would disturb others."""
