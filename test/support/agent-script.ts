/**
 * The script of a small agent run: four turns, two tools. It defines what each model says, and what the next request must send back of it.
 */
import type { SseDialect } from './recordings.ts'

export interface ScriptedTurn {
  readonly thinking: string
  readonly text: string
  readonly calls: readonly { readonly name: string; readonly args: Readonly<Record<string, unknown>> }[]
}

export const TURNS: readonly ScriptedTurn[] = [
  {
    thinking: 'Both at once – “Zürich” 🦊.',
    text: 'Let me look.',
    calls: [
      { name: 'get_weather', args: { city: 'Zürich' } },
      { name: 'get_time', args: { zone: 'Europe/Zurich' } },
    ],
  },
  { thinking: 'Now Oslo.', text: '', calls: [{ name: 'get_weather', args: { city: 'Oslo' } }] },
  { thinking: 'And here.', text: 'Last one.', calls: [{ name: 'get_time', args: {} }] },
  { thinking: 'Done.', text: 'It rains in both.', calls: [] },
]

export const QUESTION = 'How are Zürich and Oslo?'
export const FINAL_TEXT = 'It rains in both.'

/** The result of a tool. */
export const toolResult = (name: string, args: unknown): string => `${name}: ${JSON.stringify(args)} is “fine”\n`

/** A turn of the assistant and the tool results after it, as the history in a request reports them. */
export interface ReportedTurn {
  text: string
  /** Proofs of thinking, each with the text that it proves if the dialect sends that text back. */
  proofs: string[]
  calls: { id: string; name: string; args: unknown }[]
  results: { id: string; text: string }[]
}

/** The id that the upstream gives a call; dialects without call ids ignore it. */
export const callId = (dialect: SseDialect, turn: number, index: number): string =>
  `${{ anthropic: 'toolu', 'openai-chat': 'call', 'openai-responses': 'call', google: 'none' }[dialect]}_T${turn}_${index}`

/** Opaque, with the special characters of base64. */
export const proofText = (dialect: SseDialect, turn: number): string => `${dialect}/proof+${turn}==`

/** The dialects that give proofs of their thinking. */
export const PROVES: Readonly<Record<SseDialect, boolean>> = {
  anthropic: true,
  'openai-responses': true,
  google: true,
  'openai-chat': false,
}

/** The faults of the history that `dialect` received before its turn; `speakers[n]` is the dialect that gave turn n. */
export const historyFaults = (
  dialect: SseDialect,
  reported: readonly ReportedTurn[],
  speakers: readonly SseDialect[],
  carriesProofs: boolean,
): string[] => {
  const faults: string[] = []
  const expect = (what: string, got: unknown, wanted: unknown): void => {
    if (JSON.stringify(got) !== JSON.stringify(wanted)) faults.push(`${what}: ${JSON.stringify(got)}, not ${JSON.stringify(wanted)}`)
  }
  for (const [number, turn] of reported.entries()) {
    const said = TURNS[number]
    const speaker = speakers[number]
    if (said === undefined || speaker === undefined) return [...faults, `turn ${number} was never given`]
    const at = `turn ${number} `
    expect(`${at}text`, turn.text, said.text)
    expect(
      `${at}calls`,
      turn.calls.map(({ name, args }) => ({ name, args })),
      said.calls,
    )
    expect(
      `${at}results`,
      turn.results.map((result) => result.text),
      said.calls.map(({ name, args }) => toolResult(name, args)),
    )
    expect(
      `${at}ids of results`,
      turn.results.map(({ id }) => id),
      turn.calls.map(({ id }) => id),
    )
    expect(`${at}distinct ids`, new Set(turn.calls.map(({ id }) => id)).size, turn.calls.length)
    if (speaker === dialect && dialect !== 'google')
      expect(
        `${at}own ids`,
        turn.calls.map(({ id }) => id),
        said.calls.map((_, index) => callId(dialect, number, index)),
      )
    expect(`${at}proofs`, turn.proofs, speaker === dialect && PROVES[dialect] && carriesProofs ? [expectedProof(dialect, number)] : [])
  }
  return faults
}

/** Anthropic needs the text beside the signature unchanged, and a redacted block without text. */
const expectedProof = (dialect: SseDialect, turn: number): string => {
  if (dialect !== 'anthropic') return proofText(dialect, turn)
  return isRedacted(turn) ? `redacted ${proofText(dialect, turn)}` : `${TURNS[turn]?.thinking} ${proofText(dialect, turn)}`
}

/** In one of Anthropic's turns the thinking is redacted. */
export const isRedacted = (turn: number): boolean => turn === 1
