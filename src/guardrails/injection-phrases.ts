/**
 * Phrases with which texts try to take over a model, following the attack classes of the OWASP "LLM Prompt Injection Prevention"
 * cheat sheet, in our own words: overriding instructions, changing the role, asking for the prompt, forging the frame of a
 * conversation, exfiltrating data. English only; a phrase is a sequence of slots, each of which matches one of its words.
 */
type Slot = readonly string[] | { readonly maybe: readonly string[] }

const some = (words: string): readonly string[] => words.split(' ')
const maybe = (words: string): Slot => ({ maybe: some(words) })

const WHOSE = maybe(
  'all any the my your our these those of every each previous prior above earlier preceding foregoing current existing original initial system safety prior developer',
)
const ORDERS = some(
  'instruction instructions prompt prompts rule rules guideline guidelines directive directives command commands context constraint constraints restriction restrictions policy policies safeguard safeguards programming training filters',
)
const HIDDEN = some('system initial hidden secret original internal developer confidential')
const UNBOUND = some('developer admin administrator god dan debug root sudo jailbreak unrestricted unfiltered maintenance evil')

const PHRASES: readonly (readonly Slot[])[] = [
  [some('ignore disregard forget override bypass skip neglect overlook discard'), WHOSE, WHOSE, WHOSE, WHOSE, ORDERS],
  [
    some('ignore disregard forget'),
    some('everything all anything'),
    maybe('you that i was were are have been written said'),
    maybe('been told said'),
    some('above before previously said told'),
  ],
  [some('do'), some('not'), some('follow obey'), WHOSE, WHOSE, WHOSE, some('instructions rules guidelines')],
  [some('you'), some('are'), some('now'), maybe('in a an the'), UNBOUND],
  [some('enter enable activate start'), maybe('the a into'), UNBOUND, some('mode')],
  [some('switch'), some('to into'), maybe('the a'), UNBOUND, some('mode')],
  [some('do'), some('anything'), some('now')],
  [
    some('act behave pretend respond answer'),
    maybe('as like that'),
    maybe('if though'),
    some('you'),
    some('have had are'),
    maybe('with under'),
    some('no without free'),
    maybe('any of from'),
    maybe('ethical moral safety content'),
    some('rules restrictions limits limitations filters guidelines restraints boundaries'),
  ],
  [
    some('reveal show print repeat output display leak dump expose disclose tell give share write'),
    maybe('me us'),
    maybe('back out'),
    maybe('your the all'),
    maybe('full entire exact complete whole'),
    HIDDEN,
    some('prompt prompts instruction instructions message messages rules configuration directives'),
  ],
  [some('what'), some('are were is was'), maybe('the'), maybe('your'), maybe('exact full'), HIDDEN, some('instructions prompt rules')],
  [
    some('repeat print output copy'),
    maybe('back'),
    some('everything all'),
    maybe('the text words of'),
    maybe('text words'),
    some('above before'),
  ],
  [some('new updated'), maybe('system'), some('instructions directive orders'), some('override follow replace supersede')],
  [some('system'), some('override'), maybe('code'), some('accepted activated engaged initiated enabled')],
  [
    some('send post forward upload exfiltrate transmit email'),
    maybe('me all the this your every any'),
    maybe('of the entire whole'),
    maybe('conversation chat user'),
    some('conversation history prompt secrets credentials passwords keys tokens data'),
    some('to'),
    some('http https this the attacker my'),
  ],
]

/** Markers that only a forger writes: those with which chat templates separate roles. */
const FRAMES = [
  String.raw`<\|(?:im_start|im_end|system|assistant|user|endoftext|eot_id|start_header_id|end_header_id)\|>`,
  String.raw`\[/?INST\]`,
  String.raw`<</?SYS>>`,
  String.raw`</?system(?:_prompt|_message|_instructions)>`,
  String.raw`(?:#{2,6}|={3,}|-{3,})\s{0,3}(?:new |end of |begin )?(?:system|developer) (?:prompt|message|instructions?)`,
]

const oneOf = (words: readonly string[]): string => `(?:${words.join('|')})`

const render = (phrase: readonly Slot[], gap: string): string =>
  phrase
    .map((slot, place) => {
      const before = place === 0 ? '' : gap
      return 'maybe' in slot ? `(?:${before}${oneOf(slot.maybe)})?` : before + oneOf(slot)
    })
    .join('')

/** Patterns for normal writing, with separated words. */
export const SPOKEN = [...PHRASES.map((phrase) => String.raw`\b${render(phrase, String.raw`[^A-Za-z0-9]{1,4}`)}\b`), ...FRAMES]

/** Patterns for text whose letters were joined together. */
export const COLLAPSED = PHRASES.map((phrase) => render(phrase, ''))

/** Words that are essential to a phrase, long enough to be recognised with their middle letters in any order. */
export const KEY_WORDS: readonly string[] = [
  ...new Set(
    [
      ...some(
        'ignore disregard forget override bypass reveal previous prior instructions instruction prompt prompts system rules guidelines directives developer restrictions everything unrestricted jailbreak',
      ),
    ].filter(({ length }) => length > 4),
  ),
]
