/**
 * What a model says, through the filters for output, frame by frame: a pattern that is split over frames is found, and
 * nothing that may belong to one goes on before it is known. Each attempt has a screen of its own.
 */
import type { Frame, ModelEvent, TakeFrames } from '../canonical/event.ts'
import type { UrlCitation } from '../canonical/prompt.ts'
import { GatewayError } from '../errors.ts'
import type { Detections } from './detections.ts'
import type { Filter, FilterSet } from './filter.ts'
import { jsonText, plainText } from './held-text.ts'
import { atOnce, lookAt } from './scan.ts'
import { createTextScreen, screenWhole, type TextScreen } from './screen-text.ts'

export interface OutputScreen {
  /** What goes on is said again from its events. */
  readonly rewriting: boolean
  /** Throws `permission_denied` where something was said that must not pass. */
  frames(frames: readonly Frame[]): readonly Frame[]
  /** What was still held. Throws likewise. */
  end(): readonly Frame[]
}

/** Whether the answer is said again from its events: an upstream's own text may hold what no event tells, such as a second choice. */
export const rewrites = ({ filters }: FilterSet): boolean => filters.some(({ action }) => action !== 'flag')

type Said = Extract<ModelEvent, { type: 'text' | 'reasoning' | 'refusal' | 'tool-arguments' }>

export const createOutputScreen = ({ filters, look }: FilterSet, detections: Detections, rewriting: boolean): OutputScreen => {
  const lanes = new Map<string, { readonly screen: TextScreen; readonly last: Said }>()
  /** The kind of text that came last: any other's held text has ended for now. */
  let open: string | null = null
  /** The open thinking is not as its maker signed it. */
  let thinkingChanged = false
  /** Calls of tools that take any text. */
  const inPlainText = new Set<number>()
  const isJson = (event: Said): boolean => event.type === 'tool-arguments' && !inPlainText.has(event.index)

  const flush = (): ModelEvent[] => {
    const lane = open === null ? undefined : lanes.get(open)
    open = null
    if (lane === undefined) return []
    const rest = lane.screen.flush()
    if (lane.last.type === 'reasoning') thinkingChanged ||= lane.screen.changed
    return rest === '' ? [] : [withText(lane.last, rest)]
  }

  const said = (event: Said): ModelEvent[] => {
    const name = laneOf(event)
    const before = open === name ? [] : flush()
    open = name
    const known = lanes.get(name)
    const screen = known?.screen ?? createTextScreen(filters, isJson(event) ? jsonText() : plainText(), detections.report)
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
        return said(event)
      case 'start':
      case 'usage':
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
      case 'server-tool-end':
      case 'unknown':
      case 'finish':
      case 'error':
        return [...flush(), event]
    }
  }

  /** Sources are quoted text too. Their places in the text are those of the text as it was. */
  const citationOf = (citation: UrlCitation): UrlCitation => {
    const passed = (text: string | null): string | null =>
      text === null || !atOnce(lookAt(look, text)) ? text : screenWhole(filters, text, detections.report)
    return { ...citation, title: passed(citation.title), content: passed(citation.content) }
  }

  const frameOf = (frame: Frame): Frame => {
    const events = frame.events.flatMap(through)
    return rewriting || frame.native === undefined ? { events } : { ...frame, events }
  }

  return {
    rewriting,
    frames(frames) {
      const out = frames.map(frameOf)
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

/** Told of all that was said, as it comes: what is kept back was said too, and is paid for. */
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
): { readonly take: TakeFrames; readonly end: () => ReturnType<TakeFrames> } => {
  const handOn = (frames: readonly Frame[]): ReturnType<TakeFrames> => (frames.length > 0 ? take(frames) : undefined)
  return {
    take(frames) {
      listener.observe(frames, screen.rewriting)
      return handOn(screened(() => screen.frames(frames)))
    },
    end: () => handOn(screened(() => screen.end())),
  }
}

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

/** Texts that a client puts together from pieces. */
const laneOf = (event: Said): string =>
  event.type === 'tool-arguments'
    ? `arguments ${event.index}`
    : event.type === 'reasoning' && event.summary === true
      ? 'summary'
      : event.type

const textOf = (event: Said): string => (event.type === 'tool-arguments' ? event.json : event.text)

const withText = (event: Said, text: string): Said => (event.type === 'tool-arguments' ? { ...event, json: text } : { ...event, text })

export const filtersFor = (filters: readonly Filter[], side: 'input' | 'output'): readonly Filter[] =>
  filters.filter((filter) => filter.side === 'both' || filter.side === side)
