"""States of the world and the ways to speak of them: to bring one about, to be in it, to have reached it."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.random import Generator

from llm_planner.language.compact.constraints.generator.phrasing import Phrase, say
from llm_planner.language.compact.grammar import Node

# "do": an imperative; "doing": its gerund; "done": that it has come about; "now": that it is so; "staying": to remain;
# "be": a participle, as in "must not be visited"
Forms = dict[str, str]

PLACE: Forms = {
    "do": "[visit|visit|visit|go to|go to|go to|head to|move to|walk to|travel to|reach|get to|stop by|stop at|drive to"
    "|make your way to|navigate to|proceed to|approach|enter|explore|go into|run to|swing by|pass by|find|come to"
    "|check in at|drop by|arrive at|make a stop at|pay {x} a visit to|call at|go in|step into|set foot in|pass through"
    "|go inside|go through|be in|come into|drive into|go over to|pop into|look in at|roll into|use]",
    "doing": "[visiting|visiting|visiting|going to|going to|heading to|moving to|walking to|traveling to|reaching"
    "|getting"
    " to|entering|stopping at|passing through|driving to|exploring|arriving at|stepping into|coming to|setting"
    " foot in|going into|going through|going inside|being in|having been to|having visited]",
    "done": "[you [have|'ve|have already|] [visited|been to|gone to|reached|seen|entered|arrived at|been in|got to"
    "|made it"
    " to] {x}|{x} [is|has been|was|gets] [visited|reached|seen|entered|explored]|visiting {x}|you were [in|at] {x}"
    "|you [visit|reach|get to|go to|arrive at|enter|come to|move to|are at|are in|have to come to] {x}]",
    "now": "[you are [in|at|inside] {x}|you [visit|reach|get to|go to|arrive at|enter|come to|see|observe|are visiting]"
    " {x}|{x} is [visited|reached|entered]|[the robot|it] is [in|at] {x}|being [in|at] {x}|visiting {x}]",
    "staying": "[stay|remain|wait|keep|stand|stay put|hang around|linger] [in|at|inside] {x}",
    "leaving": "[leave|exit|quit|go away from|get out of|depart from|move away from|go out of] {x}",
    "unseen": "[{x} [is not|has not been|isn't|hasn't been|was not] [visited|reached] [yet|]|you [have not|haven't]"
    " [visited|been to|reached] {x} [yet|]]",
    "be": "[visited|entered|visited|entered|reached|gone into|approached|set foot in]",
}
EVENT: Forms = {
    "do": "[make sure {x} [happens|occurs|becomes true|holds]|bring about {x}|achieve {x}|have {x} [happen|occur]"
    "|get {x} to [hold|happen]|see {x}|observe {x}]",
    "doing": "[seeing {x}|observing {x}|{x} [happening|occurring|being true|holding]|doing {x}]",
    "done": "[{x} [happens|occurs|has happened|has occurred|has been observed|is observed|is seen|was seen|becomes "
    "true|is"
    " true|holds|comes true|is|arrives]|you [see|observe|have seen|have observed|notice|detect] {x}|{x}]",
    "now": "[{x} [happens|occurs|holds|is true|is observed|is seen|becomes true|is active|is on|is set]|you [see"
    "|observe]"
    " {x} [happen|occur|]|{x}|{x}|[the|a|] {x} [rings|starts|comes on|goes off|turns on|is on|is pressed|is given"
    "|sounds|appears|is"
    " triggered|is high|comes|is there|is raised]|there is [a|an] {x}|a {x} [arrives|comes in|is received|is made]"
    "|the {x}"
    " [happens|holds|is true]]",
    "staying": "[keep {x} [true|up]|{x} [must|should|shall|has to|] [hold|holds|remain true|stays true|stay true|be "
    "true|is"
    " true]|hold {x}|maintain {x}|{x}]",
    "leaving": "[let go of {x}|give up {x}|stop {x}]",
    "unseen": "[{x} [is not|has not been|isn't|hasn't been|remains not] [seen|observed]|{x} [has not|hasn't]"
    " [happened|occurred] [yet|]]",
    "be": "[seen|observed|allowed|permitted]",
}
PERSON: Forms = {
    "do": "[visit|see|meet|go to|go and see|find|go see|drop in on|go near|approach|get close to|come to|check on"
    "|look for"
    "|pay a visit to|say hello to|greet|stop by]",
    "doing": "[visiting|seeing|meeting|going to|going near|approaching|getting close to|coming near|bothering"
    "|disturbing]",
    "done": "[you [have|'ve|] [visited|seen|met|been to|been with|found] {x}|{x} has been [visited|seen]|you [spoke"
    "|talked] to {x}|you [visit"
    "|meet|see"
    "|are with|reach|get to] {x}|visiting {x}|seeing {x}]",
    "now": "[you are [near|with|close to|next to|beside|around] {x}|{x} is [near|near you|around|close|close to you]]",
    "staying": "[stay|remain|wait|keep] [near|with|close to|beside|by] {x}",
    "leaving": "[leave|walk away from|go away from] {x}",
    "unseen": "[{x} has not been [visited|seen]|you [have not|haven't] [seen|met|visited] {x}] [yet|]",
    "be": "[visited|seen|approached|disturbed|bothered]",
}
NEAR: Forms = {
    "do": "[go near|come near|get close to|approach|come close to|get near|go close to|be near|get anywhere near|come"
    " anywhere near|go up to|drive near|move close to]",
    "doing": "[going near|coming near|getting close to|approaching|getting near|being near|coming close to]",
    "done": "you [have been|are|were|get|come] [near|close to|next to] {x}",
    "now": "you are [near|close to|next to|around] {x}",
    "staying": "stay [near|close to] {x}",
    "leaving": "[leave|move away from] {x}",
    "unseen": "you have not been near {x} [yet|]",
    "be": "[approached|gone near]",
}
OVER: Forms = {
    "do": "[reach over|pass over|move over|go over|fly over|hover over|swing over|reach across|be above|move above"
    "|go above"
    "|be over|pass above|carry anything over|lift anything over|move anything over|travel over|cross over]",
    "doing": "[reaching over|passing over|moving over|going over|flying over|hovering over|reaching across|going above"
    "|passing above|crossing over|being above|swinging over]",
    "done": "you [have|] [passed|reached|been|moved|are] over {x}",
    "now": "you are [over|above] {x}",
    "staying": "stay [over|above] {x}",
    "leaving": "move away from over {x}",
    "unseen": "you have not passed over {x} [yet|]",
    "be": "[passed over|crossed|flown over]",
}
HOLDING: Forms = {
    "do": "[pick up|pick up|grab|take|hold|lift|carry|grasp|pick {x} up|collect|fetch|lift up|get|take hold of|raise"
    "|get "
    "hold of|pick {x} up|lift {x} up|have {x} in your [hand|hands|gripper]]",
    "doing": "[picking up|grabbing|taking|holding|lifting|carrying|grasping|collecting|fetching|raising|having]",
    "done": "[you [have|'ve|] [picked up|grabbed|got|taken|lifted|collected|fetched] {x}|{x} [is|has been]"
    " [picked up|grabbed|taken|in your hand|collected]|you [have|hold|are holding|pick up|are carrying] {x}]",
    "now": "[you [are|'re|] [holding|carrying] {x}|you [hold|carry|have|have got] {x} [in your [hand|gripper]|]|{x} is"
    " [in your [hand|gripper]|held|being carried|being held|with you]|holding {x}|carrying {x}]",
    "staying": "[keep hold of|hold on to|keep holding|keep carrying|hold|keep] {x}",
    "leaving": "[let go of|put down|release|drop] {x}",
    "unseen": "you [have not|haven't] picked up {x} [yet|]",
    "be": "[picked up|picked up|lifted|grabbed|taken|carried|held|lifted up|gripped]",
}
MOVED: Forms = {
    "do": "[move|touch|disturb|shift|displace|knock over|bump into|nudge|budge|touch or move|mess with|push|tip over"
    "|relocate|handle|hit|put away|clear away|deal with|tidy away|play with|fiddle with|interfere with|use|start with"
    "|knock {x} over|lay a finger on|bother with|move {x} around|get your hands on]",
    "doing": "[moving|touching|disturbing|shifting|displacing|knocking over|bumping into|nudging|budging|pushing"
    "|hitting"
    "|tipping over|putting away|messing with|handling|dealing with]",
    "done": "[{x} [is|has been|was|gets] [moved|done|put away|finished|taken care of|dealt with|cleared away|out of "
    "the way"
    "|sorted|placed|tidied away|in place|in its place|touched|handled|put where it belongs|gone from its place]|you"
    " [have|'ve|] [moved|put away|finished with|dealt with|cleared away|placed|done|sorted|finished|tidied away] {x}"
    "|you are [done|finished] with {x}]",
    "now": "[{x} [is|has been] [moved|done|away|displaced]|you have moved {x}]",
    "staying": "[keep away|keep {x} where it was put]",
    "leaving": "[put back] {x}",
    "unseen": "{x} [is not|has not been|isn't|hasn't been] [moved|done|put away|finished] [yet|]",
    "be": "[moved|touched|disturbed|shifted|knocked over|displaced|handled|budged|pushed|moved or touched]",
}
LOOKED: Forms = {
    "do": "[look around in|look around|inspect|check|take a look around|have a look around in|look round|survey|search"
    "|scan|examine|look into|take a look at|have a look at|check on|look inside|see what is in|patrol through]",
    "doing": "[looking around in|inspecting|checking|looking around|searching|scanning|surveying|examining]",
    "done": "[you have [looked around [in|]|inspected|checked|searched|scanned|surveyed|examined] {x}|{x} has been"
    " [inspected|checked|searched|scanned|looked at|surveyed]|you looked around in {x}]",
    "now": "you are looking around in {x}",
    "staying": "keep looking around in {x}",
    "leaving": "stop looking around in {x}",
    "unseen": "{x} has not been [inspected|checked|searched] [yet|]",
    "be": "[inspected|checked|searched|scanned]",
}
BROUGHT: Forms = {  # a thing to a room
    "do": "[bring|take|deliver|carry|move|transport|get|put|drop off|fetch and bring|haul|return|drop|leave|place|bring"
    "|take|deliver] [{x} [to|to|to|in|into|over to|at|inside] {y}|{x} [back|over] to {y}]",
    "doing": "[bringing|taking|delivering|carrying|moving|putting|dropping off|leaving|getting] {x} [to|in|into|at] "
    "{y}",
    "done": "[{x} [is|has been|was|has] [delivered to|brought to|in|dropped off [in|at]|taken to|at|put in|arrived "
    "[in|at]] {y}|{x}"
    " [is|is safely|is already|has got] [in|at] {y}|you [have|]"
    " [brought|delivered|taken|dropped off|put] {x} [to|in|into|at] {y}]",
    "now": "{x} [is|lies|stays] [in|inside|at] {y}",
    "staying": "[keep|leave] {x} in {y}",
    "leaving": "[take|remove] {x} [from|out of] {y}",
    "unseen": "{x} [is not|isn't] in {y} [yet|]",
    "be": "[brought|taken|delivered|put|left|moved] [to|in|into] {y}",
}
HANDED: Forms = {  # a thing to a person
    "do": "[bring|take|deliver|carry|hand|give|get] [{x} [to|over to] {y}|{y} {x}]",
    "doing": "[bringing|taking|delivering|handing|giving] {x} to {y}",
    "done": "[{x} has been [delivered|brought|given] to {y}|you have [brought|delivered|taken|given] {x} to {y}|{y} "
    "has {x}"
    "|{y} got {x}]",
    "now": "{y} has {x}",
    "staying": "[keep|leave] {x} with {y}",
    "leaving": "take {x} from {y}",
    "unseen": "{y} [has not|hasn't] got {x} [yet|]",
    "be": "[given|brought|handed] to {y}",
}
INSIDE: Forms = {
    "do": "[put|place|drop|set|lay|get|throw|move|leave] {x} [in|into|inside] {y}",
    "doing": "[putting|placing|dropping|laying|throwing|moving|leaving] {x} [in|into|inside] {y}",
    "done": "{x} [is|is|has been [put|placed]|lies|are|was put|sits|has gone|ends up|is safely|is already|has been"
    "|went]"
    " [in|inside|in|into] {y}",
    "now": "{x} [is|are|lies|sits|ends up] [in|inside] {y}",
    "staying": "[keep|leave] {x} [in|inside] {y}",
    "leaving": "[take|remove] {x} [from|out of] {y}",
    "unseen": "{x} [is not|isn't] [in|inside] {y} [yet|]",
    "be": "[put|placed|dropped|laid] [in|into|inside] {y}",
}
UPON: Forms = {
    "do": "[put|place|drop|set|lay|stack|move|leave] {x} [on|onto|on top of] {y}",
    "doing": "[putting|placing|dropping|laying|stacking|leaving] {x} [on|onto|on top of] {y}",
    "done": "{x} [is|is|has been [put|placed|stacked]|lies|are|sits|stands|has stood|rests|has been|is safely|was put]"
    " [on|on top of|onto] {y}",
    "now": "{x} [is|are|lies|sits|stands|ends up] [on|on top of] {y}",
    "staying": "[keep|leave] {x} [on|on top of] {y}",
    "leaving": "[take|remove] {x} [from|off] {y}",
    "unseen": "{x} [is not|isn't] on {y} [yet|]",
    "be": "[put|placed|set|stacked] [on|onto|on top of] {y}",
}
BESIDE: Forms = {
    "do": "[put|place|set|lay|leave|move] {x} [next to|beside|near|close to|by] {y}",
    "doing": "[putting|placing|setting|leaving|moving] {x} [next to|beside|near|close to|by] {y}",
    "done": "{x} [is|has been [put|placed]|are|stands|has been] [next to|beside|near|close to|by] {y}",
    "now": "{x} [is|are|stands|ends up|comes] [next to|beside|near|close to|by] {y}",
    "staying": "[keep|leave] {x} [next to|beside|near] {y}",
    "leaving": "[take|move] {x} away from {y}",
    "unseen": "{x} [is not|isn't] [next to|beside] {y} [yet|]",
    "be": "[put|placed|set] [next to|beside|by] {y}",
}
AT: Forms = {
    "do": "[put|place|set|lay|leave|move|get] {x} {y}",
    "doing": "[putting|placing|setting|leaving|moving] {x} {y}",
    "done": "{x} [is|has been [put|placed]|are|lies] {y}",
    "now": "{x} [is|are|lies|ends up] {y}",
    "staying": "[keep|leave] {x} {y}",
    "leaving": "[take|move] {x} away from {y}",
    "unseen": "{x} [is not|isn't] {y} [yet|]",
    "be": "[put|placed|moved] {y}",
}


@dataclass(frozen=True)
class Act:
    """A state and how it is spoken of; `thing` is the noun phrase in it, `extra` a second one."""

    node: Node
    forms: Forms
    thing: Phrase
    extra: Phrase = ()

    @property
    def noun(self) -> Phrase | None:
        """The thing, where naming it says enough: "the lab is off limits", but not "the mug is off limits"."""
        return self.thing if self.forms in (PLACE, EVENT, PERSON, NEAR) else None

    def say(self, rng: Generator, form: str) -> Phrase:
        template = self.forms[form]
        if form in ("do", "doing"):  # the noun goes to the end of a verb that has no place for it
            words = say(rng, template, x=("\x00",), y=self.extra)
            if "\x00" in words:
                at = words.index("\x00")
                return (*words[:at], *self.thing, *words[at + 1 :])
            return (*words, *self.thing)
        return say(rng, template, x=self.thing, y=self.extra)
