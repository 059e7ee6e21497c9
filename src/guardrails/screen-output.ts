/**
 * The words of a model, through the filters for output, frame by frame: a pattern that is split over frames is found, and
 * nothing that may belong to one goes on before it is known. Each attempt has a screen of its own.
 */
import { partsOfAnswer } from '../canonical/answer-parts.ts'
import type { Frame, ModelEvent, TakeFrames } from '../canonical/event.ts'
import type { UrlCitation } from '../canonical/prompt.ts'
import { GatewayError } from '../errors.ts'
import { LARGE_BYTES, type Turn } from '../lib/steps.ts'
import type { Detections } from './detections.ts'
import type { Filter, FilterSet } from './filter.ts'
import { jsonText, plainText } from './held-text.ts'
import { atOnce, matchesAny } from './scan.ts'
import { createTextScreen, screenWhole, type TextScreen } from './screen-text.ts'

export interface OutputScreen {
  /** The text that goes on is said again from its events. */
  readonly rewriting: boolean
  /** Throws `permission_denied` where something was said that must not pass. */
  frames(frames: readonly Frame[]): readonly Frame[]
  /** Gives the text that was still held. Throws likewise. */
  end(): readonly Frame[]
}

/** Says whether the answer is said again from its events: an upstream's own text may hold what no event has, such as a second choice. */
export const rewrites = ({ filters }: FilterSet): boolean => filters.some(({ action }) => action !== 'flag')

type TextEvent = Extract<ModelEvent, { type: 'text' | 'reasoning' | 'refusal' | 'tool-arguments' }>

export const createOutputScreen = ({ filters, openMatcher }: FilterSet, detections: Detections, rewriting: boolean): OutputScreen => {
  const lanes = new Map<string, { readonly screen: TextScreen; readonly last: TextEvent }>()
  /** The kind of text that came last: any other's held text has ended for now. */
  let open: string | null = null
  /** Texts of a whole answer in which the matcher of all filters found nothing, by lane; null before there is one. */
  let clean: ReadonlyMap<string, string> | null = null
  let passing = false
  /** The open thinking is not as its maker signed it. */
  let thinkingChanged = false
  /** Calls of tools that take any text. */
  const inPlainText = new Set<number>()
  const isJson = (event: TextEvent): boolean => event.type === 'tool-arguments' && !inPlainText.has(event.index)

  const flush = (): ModelEvent[] => {
    const lane = open === null ? undefined : lanes.get(open)
    open = null
    if (lane === undefined) return []
    const rest = lane.screen.flush()
    if (lane.last.type === 'reasoning') thinkingChanged ||= lane.screen.changed
    return rest === '' ? [] : [withText(lane.last, rest)]
  }

  /** Where more text follows a whole answer, a match may have begun in the part that only the matcher has read. */
  const openScreen = (event: TextEvent, name: string): TextScreen => {
    const screen = createTextScreen(filters, isJson(event) ? jsonText() : plainText(), detections.report)
    const read = clean?.get(name)
    if (read !== undefined) {
      screen.push(read)
      screen.flush()
    }
    return screen
  }

  const screenText = (event: TextEvent): ModelEvent[] => {
    if (passing) return [event]
    const name = laneOf(event)
    const before = open === name ? [] : flush()
    open = name
    const known = lanes.get(name)
    const screen = known?.screen ?? openScreen(event, name)
    lanes.set(name, { screen, last: event })
    const text = screen.push(textOf(event))
    return text === '' ? before : [...before, withText(event, text)]
  }

  const through = (event: ModelEvent): ModelEvent[] => {
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
        // Its tokens spell the text as it was.
        return rewriting ? [] : [event]
      case 'citation':
        return [{ ...event, citation: citationOf(event.citation) }]
      case 'reasoning-end': {
        const before = flush()
        const proof = thinkingChanged && event.proof?.kind === 'signature' ? null : event.proof
        thinkingChanged = false
        return [...before, { ...event, proof }]
      }
      case 'tool-call':
        if (event.custom === true) inPlainText.add(event.index)
        return [...flush(), event]
      case 'text-break':
      case 'image':
      // Arguments and results pass the filters where the tool is run.
      case 'server-tool-start':
      case 'server-tool-progress':
      case 'server-tool-end':
      case 'unknown':
      case 'finish':
        return [...flush(), event]
    }
  }

  /** Sources are quoted text too. Their places in the text are those of the text as it was. */
  const citationOf = (citation: UrlCitation): UrlCitation => {
    const passed = (text: string | null): string | null =>
      text === null || !atOnce(matchesAny(openMatcher, text)) ? text : screenWhole(filters, text, detections.report)
    return { ...citation, title: passed(citation.title), content: passed(citation.content) }
  }

  /** Says whether this is a whole answer, in which no filter can find anything: one pass is cheaper than every filter's own. */
  const holdsNothing = (frames: readonly Frame[]): boolean => {
    const texts = lanes.size > 0 || clean !== null ? null : wholeTexts(frames)
    if (texts === null) return false
    for (const text of texts.values()) if (atOnce(matchesAny(openMatcher, text))) return false
    clean = texts
    return true
  }

  const frameOf = (frame: Frame): Frame => {
    const events = frame.events.flatMap(through)
    return rewriting || frame.native === undefined ? { events } : { ...frame, events }
  }

  return {
    rewriting,
    frames(frames) {
      passing = holdsNothing(frames)
      const out = frames.map(frameOf)
      passing = false
      detections.assertPassed()
      return rewriting ? out.filter(({ events }) => events.length > 0) : out
    },
    end() {
      const events = flush()
      detections.assertPassed()
      return events.length === 0 ? [] : [{ events }]
    },
  }
}

/** Called with everything the model said, as it comes: text that is kept back was said too, and is paid for. */
interface Listener {
  observe(frames: readonly Frame[], rewritten: boolean): void
}

/**
 * Takes an attempt's frames, and hands on what passes; `end` hands on what was still held. Both throw where something was
 * said that must not pass, and where the screen itself fails: then nothing passes.
 */
export const screening = (
  screen: OutputScreen,
  listener: Listener,
  take: TakeFrames,
  turn?: Turn,
): { readonly take: TakeFrames; readonly end: () => ReturnType<TakeFrames> } => {
  const handOn = (frames: readonly Frame[]): ReturnType<TakeFrames> => (frames.length > 0 ? take(frames) : undefined)
  /** A whole answer in the client's own dialect comes as one frame. */
  const inTurns = async (frames: readonly Frame[], giveWay: Turn): Promise<void> => {
    const passed: Frame[] = []
    for (const part of partsOfAnswer(frames)) {
      await giveWay()
      for (const frame of screened(() => screen.frames([part]))) passed.push(frame)
    }
    await handOn(screen.rewriting ? passed : frames)
  }
  return {
    take(frames) {
      listener.observe(frames, screen.rewriting)
      return turn !== undefined && frames.some(isLarge) ? inTurns(frames, turn) : handOn(screened(() => screen.frames(frames)))
    },
    end: () => handOn(screened(() => screen.end())),
  }
}

const isLarge = ({ native }: Frame): boolean => native !== undefined && native.json.length > LARGE_BYTES

const screened = (screen: () => readonly Frame[]): readonly Frame[] => {
  try {
    return screen()
  } catch (thrown) {
    if (thrown instanceof GatewayError) throw thrown
    throw new GatewayError('permission_denied', 'The content filters of this key could not check the answer, so it was not delivered.', {
      cause: thrown,
      metadata: { patterns: [] },
    })
  }
}

/**
 * The text of one batch that ends its answer, by lane. Null for any other batch, and where a lane is interrupted, or has
 * escapes that hide what its text is: then only a screen can find what is in it.
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

/** Events that come between the pieces of a text without ending it. */
const GOES_BESIDE: ReadonlySet<ModelEvent['type']> = new Set(['start', 'usage', 'logprobs', 'citation'])

/** Texts that a client puts together from pieces. */
const laneOf = (event: TextEvent): string =>
  event.type === 'tool-arguments'
    ? `arguments ${event.index}`
    : event.type === 'reasoning' && event.summary === true
      ? 'summary'
      : event.type

const textOf = (event: TextEvent): string => (event.type === 'tool-arguments' ? event.json : event.text)

const withText = (event: TextEvent, text: string): TextEvent =>
  event.type === 'tool-arguments' ? { ...event, json: text } : { ...event, text }

export const filtersFor = (filters: readonly Filter[], side: 'input' | 'output'): readonly Filter[] =>
  filters.filter((filter) => filter.side === 'both' || filter.side === side)
