"""Several servers on one database: who they are, what they tell each other, who thinks where."""
