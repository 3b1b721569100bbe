"""What the words of a result come to in a scene: names, amounts, formulas and programs."""
