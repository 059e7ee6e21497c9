/**
 * Passes a model's output through the filters for output, frame by frame: a pattern that is split over frames is found, and
 * nothing that may be part of one is passed on before that is known. Each attempt has its own screen.
 */
import { partsOfAnswer } from '../canonical/answer-parts.ts'
import type { Frame, ModelEvent, TakeFrames } from '../canonical/event.ts'
import { GatewayError } from '../errors.ts'
import type { JsonValue } from '../lib/json/json.ts'
import { atOnce, LARGE_BYTES } from '../lib/steps.ts'
import type { Detections } from './detections.ts'
import type { Filter, FilterSet } from './filter.ts'
import { jsonText, plainText } from './held-text.ts'
import { matchesAny, type RunScan, type Scan } from './scan.ts'
import { createTextScreen, pushInPieces, type Report, screenInPieces, screenWhole, type TextScreen } from './screen-text.ts'

export interface OutputScreen {
  /** The answer that is passed on is rendered again from its events. */
  readonly rewriting: boolean
  /** Throws `permission_denied` if the output contains something that must not pass. */
  frames(frames: readonly Frame[]): Scan<readonly Frame[]>
  /** Returns the text that was still held. Throws as `frames` does. */
  end(): readonly Frame[]
  /** Returns a text of a failure, in which a provider may quote the answer, with placeholders for what must not pass. */
  hide(text: string): string
}

/**
 * Returns true if the answer must be rendered again from its events, because an upstream's own text may hold content that no event
 * has, such as a second choice.
 */
export const rewrites = ({ filters }: FilterSet): boolean => filters.some(({ action }) => action !== 'flag')

type TextEvent = Extract<ModelEvent, { type: 'text' | 'reasoning' | 'refusal' | 'tool-arguments' }>

/** `isOfRequest`: the request has this text as a string, as it has the names of its tools. */
export const createOutputScreen = (
  { filters, openMatcher, rewrites: rewriting }: FilterSet & { readonly rewrites: boolean },
  detections: Detections,
  isOfRequest: (text: string) => boolean,
): OutputScreen => {
  const lanes = new Map<string, { readonly screen: TextScreen; readonly last: TextEvent }>()
  /** The lane of the latest text: held text of any other lane has ended for now. */
  let open: string | null = null
  /** The texts, by lane, of a whole answer in which the combined matcher found nothing; null until there is one. */
  let clean: ReadonlyMap<string, string> | null = null
  let passing = false
  /** The open thinking was changed, so it no longer matches its signature. */
  let thinkingChanged = false
  /** Something in the text of the answer was replaced, so that positions in it are no longer those that the provider counted. */
  let textChanged = false
  /** Indices of calls of tools that take any text. */
  const inPlainText = new Set<number>()
  const isJson = (event: TextEvent): boolean => event.type === 'tool-arguments' && !inPlainText.has(event.index)

  const reportText: Report = (filter, ...found) => {
    textChanged ||= filter.action === 'redact'
    detections.report(filter, ...found)
  }

  const flush = (): ModelEvent[] => {
    const lane = open === null ? undefined : lanes.get(open)
    open = null
    if (lane === undefined) return []
    const rest = lane.screen.flush()
    if (lane.last.type === 'reasoning' && lane.screen.hasReplaced()) thinkingChanged = true
    return rest === '' ? [] : [withText(lane.last, rest)]
  }

  /**
   * Creates a screen. If text follows a whole answer, a match may have begun in the part that only the combined matcher has read, so
   * the screen reads that part first.
   */
  const openScreen = (event: TextEvent, name: string): TextScreen => {
    const screen = createTextScreen(
      filters,
      isJson(event) ? jsonText() : plainText(),
      event.type === 'text' ? reportText : detections.report,
    )
    const read = clean?.get(name)
    if (read !== undefined) {
      screen.push(read)
      screen.flush()
    }
    return screen
  }

  /** Enters the lane of a text; returns the text of another lane that was still held. */
  const enter = (event: TextEvent): { readonly before: ModelEvent[]; readonly screen: TextScreen } => {
    const name = laneOf(event)
    const before = open === name ? [] : flush()
    open = name
    const screen = lanes.get(name)?.screen ?? openScreen(event, name)
    lanes.set(name, { screen, last: event })
    return { before, screen }
  }

  const screenText = (event: TextEvent): ModelEvent[] => {
    if (passing) return [event]
    const { before, screen } = enter(event)
    return withRest(before, event, screen.push(textOf(event)))
  }

  function* screenLongText(event: TextEvent): Scan<ModelEvent[]> {
    if (passing) return [event]
    const { before, screen } = enter(event)
    return withRest(before, event, yield* pushInPieces(screen, textOf(event)))
  }

  const through = (event: Exclude<ModelEvent, { type: 'citation' | 'tool-call' | 'image' | 'own-members' }>): ModelEvent[] => {
    switch (event.type) {
      case 'text':
      case 'reasoning':
      case 'refusal':
      case 'tool-arguments':
        return screenText(event)
      case 'start':
      case 'usage':
      case 'file-text':
        return [event]
      case 'logprobs':
        // The tokens spell the original text.
        return rewriting ? [] : [event]
      case 'reasoning-end': {
        const before = flush()
        const proof = thinkingChanged && event.proof?.kind === 'signature' ? null : event.proof
        thinkingChanged = false
        return [...before, { ...event, proof }]
      }
      case 'text-break':
      // Arguments and results pass the filters where the tool is run.
      case 'server-tool-start':
      case 'server-tool-progress':
      case 'server-tool-end':
      case 'unknown':
      case 'finish':
        return [...flush(), event]
    }
  }

  /** A model may put anything into a name that it makes up. No placeholder can stand there, since the client looks the name up. */
  function* screenCall(event: Extract<ModelEvent, { type: 'tool-call' }>): Scan<ModelEvent[]> {
    if (event.custom === true) inPlainText.add(event.index)
    for (const name of [event.name, event.namespace ?? ''])
      if ((yield* matchesAny(openMatcher, name)) && !isOfRequest(name)) yield* screenInPieces(filters, name, detections.reportFixed)
    return [...flush(), event]
  }

  /** Filters a citation, because sources contain quoted text. A source whose address must not pass is left out. */
  function* screenCitation(event: Extract<ModelEvent, { type: 'citation' }>): Scan<ModelEvent[]> {
    const { url, title, content } = event.citation
    if ((yield* screenQuote(url)) !== url) return []
    const citation = {
      ...event.citation,
      title: title === null ? null : yield* screenQuote(title),
      content: content === null ? null : yield* screenQuote(content),
      ...(textChanged ? { start: null, end: null } : {}),
    }
    return [{ ...event, citation }]
  }

  /** A picture may be given by its address, which is left out as that of a source is. */
  function* screenImage(event: Extract<ModelEvent, { type: 'image' }>): Scan<ModelEvent[]> {
    const passes = event.url.startsWith('data:') || (yield* screenQuote(event.url)) === event.url
    return [...flush(), ...(passes ? [event] : [])]
  }

  /** A provider may quote the answer in any text of a member, which is then left out. Numbers, such as scores, are no text. */
  function* screenMembers(event: Extract<ModelEvent, { type: 'own-members' }>): Scan<ModelEvent[]> {
    const members: Record<string, JsonValue> = {}
    for (const [name, value] of Object.entries(event.members)) if (!(yield* matchesAny(openMatcher, textsOf(value)))) members[name] = value
    return [{ ...event, members }]
  }

  function* screenQuote(text: string): Scan<string> {
    return (yield* matchesAny(openMatcher, text)) ? yield* screenInPieces(filters, text, detections.report) : text
  }

  function* screenEvent(event: ModelEvent): Scan<ModelEvent[]> {
    if (event.type === 'citation') return yield* screenCitation(event)
    if (event.type === 'tool-call') return yield* screenCall(event)
    if (event.type === 'image') return yield* screenImage(event)
    if (event.type === 'own-members') return yield* screenMembers(event)
    return isLongText(event) ? yield* screenLongText(event) : through(event)
  }

  /** Returns true if this is a whole answer in which no filter can match: one combined pass is cheaper than a pass of every filter. */
  function* holdsNothing(frames: readonly Frame[]): Scan<boolean> {
    const texts = wholeTexts(frames)
    if (texts === null) return false
    for (const text of texts.values()) if (yield* matchesAny(openMatcher, text)) return false
    clean = texts
    return true
  }

  return {
    rewriting,
    *frames(frames) {
      passing = lanes.size === 0 && clean === null && (yield* holdsNothing(frames))
      const out: Frame[] = []
      for (const frame of frames) {
        if (out.length > 0) yield
        const events: ModelEvent[] = []
        for (const [at, event] of frame.events.entries()) {
          if (at > 0) yield
          for (const one of yield* screenEvent(event)) events.push(one)
        }
        out.push(rewriting || frame.native === undefined ? { events } : { ...frame, events })
      }
      passing = false
      detections.assertPassed()
      return rewriting ? out.filter(({ events }) => events.length > 0) : out
    },
    end() {
      const events = flush()
      detections.assertPassed()
      return events.length === 0 ? [] : [{ events }]
    },
    hide: (text) => (atOnce(matchesAny(openMatcher, text)) ? screenWhole(replacing(filters), text, detections.report) : text),
  }
}

/** A failure has to be told, so filters that block an answer replace what they find in it. */
const replacing = (filters: readonly Filter[]): readonly Filter[] =>
  filters.map((filter) => (filter.action === 'block' ? { ...filter, action: 'redact' } : filter))

/** Called with the model's entire output as it arrives, because text that is held back also costs money. */
interface Listener {
  observe(frames: readonly Frame[], rewritten: boolean): void
}

/** A screen, and what runs its scans within the time that one answer may take. */
export interface OutputScreening {
  readonly screen: OutputScreen
  readonly run: RunScan
}

/**
 * Takes an attempt's frames and passes on what the screen allows; `end` passes on what was still held. Both throw if the output
 * contains something that must not pass, if the screen itself fails, or if its time is over: then nothing passes.
 */
export const screening = (
  { screen, run }: OutputScreening,
  listener: Listener,
  take: TakeFrames,
): { readonly take: TakeFrames; readonly end: () => ReturnType<TakeFrames> } => {
  const handOn = (frames: readonly Frame[]): ReturnType<TakeFrames> => (frames.length > 0 ? take(frames) : undefined)
  const passOn = (screened: () => readonly Frame[] | Promise<readonly Frame[]>): ReturnType<TakeFrames> => {
    let passed: readonly Frame[] | Promise<readonly Frame[]>
    try {
      passed = screened()
    } catch (thrown) {
      throw refusal(thrown)
    }
    if (!(passed instanceof Promise)) return handOn(passed)
    return passed.then(handOn, (thrown: unknown) => Promise.reject(refusal(thrown)))
  }
  return {
    take(frames) {
      listener.observe(frames, screen.rewriting)
      return passOn(() => run(frames.some(isLarge) ? screenParts(screen, frames) : screen.frames(frames)))
    },
    // Only what is held is read, which is little.
    end: () => passOn(() => screen.end()),
  }
}

/** Screens a whole answer in the client's own dialect, which arrives as one frame, in parts. */
function* screenParts(screen: OutputScreen, frames: readonly Frame[]): Scan<readonly Frame[]> {
  const passed: Frame[] = []
  for (const part of partsOfAnswer(frames)) for (const frame of yield* screen.frames([part])) passed.push(frame)
  return screen.rewriting ? passed : frames
}

const isLarge = ({ native }: Frame): boolean => native !== undefined && native.json.length > LARGE_BYTES

const refusal = (thrown: unknown): GatewayError =>
  thrown instanceof GatewayError
    ? thrown
    : new GatewayError('permission_denied', 'The content filters of this key could not check the answer, so it was not delivered.', {
        cause: thrown,
        metadata: { patterns: [] },
      })

/**
 * The texts, by lane, of one batch that contains a whole answer. Null for any other batch, if a lane is interrupted, or if escapes
 * hide its text: then only a screen can examine it.
 */
const wholeTexts = (frames: readonly Frame[]): ReadonlyMap<string, string> | null => {
  const texts = new Map<string, string>()
  let open: string | null = null
  let isWhole = false
  for (const { events } of frames) {
    for (const event of events) {
      if (isTextEvent(event)) {
        const lane = laneOf(event)
        const text = textOf(event)
        const before = texts.get(lane)
        if ((before !== undefined && lane !== open) || (event.type === 'tool-arguments' && text.includes('\\'))) return null
        texts.set(lane, (before ?? '') + text)
        open = lane
      } else if (!GOES_BESIDE.has(event.type)) open = null
      isWhole ||= event.type === 'finish'
    }
  }
  return isWhole ? texts : null
}

const isTextEvent = (event: ModelEvent): event is TextEvent => TEXT_EVENTS.has(event.type)

const TEXT_EVENTS: ReadonlySet<ModelEvent['type']> = new Set<TextEvent['type']>(['text', 'reasoning', 'refusal', 'tool-arguments'])

/** Events that may occur between the pieces of a text without ending it. */
const GOES_BESIDE: ReadonlySet<ModelEvent['type']> = new Set(['start', 'usage', 'logprobs', 'citation', 'own-members'])

/** The lane of a text: the pieces of one lane are joined by the client. */
const laneOf = (event: TextEvent): string => {
  if (event.type === 'tool-arguments') return `arguments ${event.index}`
  return event.type === 'reasoning' && event.summary === true ? 'summary' : event.type
}

const textsOf = (value: JsonValue): string => JSON.stringify(value, (_, inner: unknown) => (typeof inner === 'number' ? null : inner))

/** Longer texts are screened in steps; the many short ones of a stream cost less without. */
const LONG = 1024

const isLongText = (event: ModelEvent): event is TextEvent => isTextEvent(event) && textOf(event).length > LONG

const withRest = (before: ModelEvent[], event: TextEvent, text: string): ModelEvent[] =>
  text === '' ? before : [...before, withText(event, text)]

const textOf = (event: TextEvent): string => (event.type === 'tool-arguments' ? event.json : event.text)

const withText = (event: TextEvent, text: string): TextEvent =>
  event.type === 'tool-arguments' ? { ...event, json: text } : { ...event, text }

export const filtersFor = (filters: readonly Filter[], side: 'input' | 'output'): readonly Filter[] =>
  filters.filter((filter) => filter.side === 'both' || filter.side === side)
