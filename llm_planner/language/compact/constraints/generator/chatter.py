"""What people say around a rule: reasons, emphasis, how sure they want to be that it was heard."""

from __future__ import annotations

from numpy.random import Generator

from llm_planner.language.compact.constraints.generator.phrasing import Phrase, say

_FIRST = (
    "[the [baby|child|cat|boss] is [asleep|sleeping|resting] ,|it is late ,|be careful ,|careful ,|careful :|listen ,|"
    "listen :|so here is the deal :|here is the deal :|so here's the deal :|important :|this is important :|for "
    "safety ,|"
    "for safety reasons ,|safety first :|it's [hot|wet|dark|dirty] in there ,|there is a [meeting|party|lesson] "
    "going on , "
    "so|we have [guests|visitors] , so|somebody is [sleeping|working] ,|the floor is wet , so|they are busy ,|heads "
    "up :|"
    "attention :|one more thing :|another thing :|mind you ,|to be clear ,|as a rule ,|rule number one :|right .|ok .|"
    "alright :|whatever you do ,|whatever happens ,|no matter what ,|at all times ,|and most important ,|keep in "
    "mind :|"
    "remember :|please note that|note that|make no mistake :|just so you know ,|i mean it :|hey ,|by the way ,|it is "
    "[dangerous|forbidden] ,|it is crucial that|above all ,|first of all ,|in any case ,|on your way ,|along the way ,|"
    "during all this ,|throughout ,|the whole time ,|for today ,|today ,]"
)
_LAST = (
    "[, it is hot|it's hot|its hot|, it's fragile|, it is expensive|, it is [dirty|wet|full|sharp|heavy]|because it is "
    "[fragile|hot|wet|dirty|expensive|full|dangerous|broken|clean]|since it is [fragile|hot|dirty|broken]|, someone "
    "[just|]"
    " [cleaned|painted|washed|broke] it|, they are [sleeping|busy|working|resting]|, it's a mess|, [he|she] scares "
    "easily|,"
    " [he|she] is [busy|asleep|resting|working]|, that's [dangerous|important|all|it]|, period|, that means you|, "
    "understood ?|, ok ?|, okay ?|ok ?|, got it ?|, right ?|, is that clear ?|, no matter what|, no exceptions|, "
    "whatever "
    "happens|today|for today|this time|, thanks|, thank you|for the rest of the [day|shift]|, it is from my [grandma"
    "|mother"
    "|sister]|. it's [mine|fragile|hot|delicate]|, it may [break|fall|spill]|, people are [working|sleeping] there|, "
    "i just"
    " cleaned it|, we need it [later|clean]|! !|, i mean it|, never ever|, it belongs to [me|somebody else]|, that "
    "is all|"
    ", it is being repaired|, be careful|, carefully|, please|if you can|, would you|, will you|, and be careful]"
)


def chatted(rng: Generator, words: Phrase) -> Phrase:
    """The words of a rule with something said before or after them."""
    return (*say(rng, _FIRST), *words) if rng.random() < 0.5 else (*words, *say(rng, _LAST))
