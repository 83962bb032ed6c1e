"""Everyone searches the same queries in turn: who takes part, what is measured, who is right."""
