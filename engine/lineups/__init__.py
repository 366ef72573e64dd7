"""Lineups: what a team may be, how lineups are varied, played and measured (Lamarckian, V-B)."""
