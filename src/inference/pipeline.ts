/**
 * The steps of a request: prepare → screen → plan → admit → run → settle. Each step takes the result of the one before and adds to it
 * (request.ts). Dry runs and token counts stop after the plan; embeddings take all steps, as answers do.
 *
 * A step refuses by throwing, and the one catch here turns that into a `Refused` with what was known by then. After admission nothing
 * throws any more: a failure is a value, with which a run resolves.
 */
import { lookingForWork } from '../canonical/asked-work.ts'
import type { TakeFrames } from '../canonical/event.ts'
import { measuringInput } from '../canonical/input-size.ts'
import type { Effect } from '../canonical/effect.ts'
import type { GatewayError } from '../errors.ts'
import { hidesThinking, hidingThinking } from '../formats/hide-thinking.ts'
import { nextStage } from '../lib/cohort.ts'
import { atOnce, inTurns, LARGE_BYTES, type Steps, type Turn } from '../lib/steps.ts'
import type { AskedPlugins } from '../plugins/asked-plugins.ts'
import type { Admit } from './admit/admit.ts'
import type { Admitted } from './admitted.ts'
import { asFailure } from './as-failure.ts'
import { admitCached } from './cache/admit-cached.ts'
import { AnswerCapture } from './cache/answer-capture.ts'
import type { CacheMiss } from './cache/cache-use.ts'
import { cachingOf } from './cache/caching.ts'
import { replay } from './cache/replay.ts'
import type { ResponseCache } from './cache/response-cache.ts'
import { citeSources } from './cite-sources.ts'
import type { Contents } from './contents/keep-contents.ts'
import { countTokens, type TokenCount } from './count-tokens.ts'
import { dryRun, type DryRun } from './dry-run.ts'
import { createTurn, type LargeStep } from './large-steps.ts'
import { plan, type PlanParts } from './plan/plan.ts'
import { withTool } from './plugin-tool.ts'
import { readAlignment } from '../plugins/alignment.ts'
import { prepare, type PrepareParts } from './prepare/prepare.ts'
import { readFields } from './read-fields.ts'
import { readFiles, type ReadFilesParts } from './files/read-files.ts'
import { failureWithFiles, withFileTexts } from './files/answer-file-texts.ts'
import { idleTools, type SavedTools } from './plan/idle-tools.ts'
import { healed, wantsHealing } from './heal-answer.ts'
import { presetName } from '../presets/model-reference.ts'
import { Refused, refusalFacts } from './refused.ts'
import type { RunningAnswers } from './running-answers.ts'
import { createAskModel } from './loop/ask-model.ts'
import type { LoopParts } from './loop/loop-parts.ts'
import { answerWithTools } from './loop/tool-loop.ts'
import { createJudge } from './judge/create-judge.ts'
import { roomForText } from './run/kept-text.ts'
import { runJudged } from './judge/run-judged.ts'
import { screen, type ScreenParts } from './screen/screen.ts'
import type { Settle } from './settle/settle.ts'
import type { Planned, Prepared, Received, Screened } from './request.ts'
import type { Tracing } from './tracing/tracing.ts'
import { unknownModelsOf } from './prepare/unknown-models.ts'
import { answerWithSearch } from './web/answer-with-search.ts'

export interface PipelineParts
  extends Omit<PrepareParts, 'turn'>, ReadFilesParts, Omit<ScreenParts, 'turn'>, PlanParts, Omit<LoopParts, 'askModel'> {
  readonly admit: Admit
  /** The model that judges answers for the plugin `alignment`; null if none is configured (the plugin is then refused). */
  readonly judgeModel: string | null
  readonly responseCache: ResponseCache
  readonly running: Pick<RunningAnswers, 'began'>
  readonly settle: Settle
  readonly contents: Pick<Contents, 'watch'>
  readonly tracing: Pick<Tracing, 'watch'>
  /** Resolves when the next step of the work on large bodies may run. */
  readonly largeStep: LargeStep
  /** Receives the findings in a client's request that its guardrails refuse: such a request has no record. */
  readonly noteRefusedHits: (effects: readonly Effect[]) => void
  /** The maximum time for an answer in milliseconds, whatever it is doing. */
  readonly totalMs: number
}

export interface Pipeline {
  /** prepare → screen → plan → admit. The caller must call `answer` for an admitted request, which settles it. */
  admit(received: Received): Promise<Admitted | Refused>
  /**
   * run → settle: hands the answer to `take` as it comes. Resolves after it is settled, with null or with the failure that ended it. Call
   * it once for each admitted request; a client that wants no more of the answer leaves the connection.
   */
  answer(admitted: Admitted, take: TakeFrames): Promise<GatewayError | null>
  /** Lets other work run between two steps of the work on a large answer. */
  readonly turn: Turn
  /** prepare → screen → plan, and what the request would do. */
  dryRun(received: Received): Promise<DryRun | Refused>
  /** prepare → screen → plan, and the token count of the first planned endpoint. Aborting `connection` ends the question; if it is null, nobody is asked. */
  countTokens(received: Received, connection: AbortController | null): Promise<TokenCount | Refused>
  /** Why models of a preset cannot answer here and its tools cannot run: one sentence for each. */
  unservable(saved: SavedTools): Steps<readonly string[]>
}

export const createPipeline = (given: PipelineParts): Pipeline => {
  const { largeStep } = given
  const turn = createTurn(given.clock, largeStep)
  const parts = { ...given, turn, context: { ...given.context, turn } }
  const toPlan = async <Next>(
    received: Received,
    next: (planned: Planned) => Next | Promise<Next>,
    noteRefusedHits: PipelineParts['noteRefusedHits'] = () => undefined,
  ): Promise<Next | Refused> => {
    let prepared: Prepared | null = null
    let screened: Screened | null = null
    let preset: string | null = null
    try {
      const isLarge = received.bytes > LARGE_BYTES
      if (isLarge) await largeStep().then(() => inTurns(readFields(received), turn))
      prepared = await prepare(received, parts, (found) => (preset = presetName(found)))
      if (prepared.plugins !== null) prepared = await withPlugins(prepared, prepared.plugins, parts)
      await nextStage
      const screening = screen(prepared, parts)
      screened = screening instanceof Promise ? await screening : screening
      // A preset may turn a small request into a large one.
      const isLargeNow = isLarge || screened.call.body.held.length > LARGE_BYTES
      if (isLargeNow) await largeStep()
      const planning = plan(screened, parts)
      const planned = isLargeNow ? await inTurns(planning, turn) : atOnce(planning)
      if (isLargeNow) await inTurns(measuring(planned), turn)
      await nextStage
      const reached = next(planned)
      const result = reached instanceof Promise ? await reached : reached
      if (isLargeNow) await largeStep()
      return result
    } catch (thrown) {
      if (prepared !== null && screened === null && received.origin === undefined) noteRefusedHits(prepared.effects)
      return new Refused(asFailure(thrown), refusalFacts(prepared, screened, parts), preset)
    }
  }

  const admit: Admit = (planned) => {
    const caching = cachingOf(planned)
    return caching === null ? parts.admit(planned) : admitCached(planned, caching, parts)
  }

  const answering = (admitted: Admitted, take: TakeFrames): Promise<GatewayError | null> => {
    const { tools, search } = admitted.request
    if (search !== null) return answerWithSearch(admitted, search, loopParts, take)
    return tools === null ? runJudged(admitted, parts, take) : answerWithTools(admitted, tools, loopParts, citeSources(take))
  }

  const loopParts: LoopParts = { ...parts, askModel: createAskModel({ ...parts, answer: answering }) }

  /** Judges only the client's own answer: models that are asked within it are not judged, least of all the judge itself. */
  const appointJudge = (admitted: Admitted): void => {
    const options = admitted.request.plugins?.get('alignment')
    if (options === undefined || parts.judgeModel === null) return
    admitted.judge = createJudge(admitted, readAlignment(options), parts.judgeModel, loopParts.askModel(admitted))
  }

  const keepAnswer = async (admitted: Admitted, miss: CacheMiss, capture: AnswerCapture): Promise<void> => {
    try {
      await parts.responseCache.keep(admitted, miss, capture, turn)
    } catch (thrown) {
      parts.onFault(thrown, 'an answer was not kept for the response cache')
    }
  }

  const answer = async (admitted: Admitted, give: TakeFrames): Promise<GatewayError | null> => {
    const { files: read, call } = admitted.request
    // Only Chat Completions has a member for the texts of files.
    const files = call.dialect === 'chat' ? read : undefined
    const { cache, hit } = admitted
    const capture = cache?.outcome === 'miss' ? new AnswerCapture() : null
    const room = parts.answerRoom === undefined ? null : roomForText(admitted, parts.answerRoom)
    admitted.keepText = room?.keep
    const kept = parts.contents.watch(admitted)
    const traced = parts.tracing.watch(admitted)
    let forward = hidesThinking(call) ? hidingThinking(call.dialect, give) : give
    for (const observer of [capture, kept, traced]) forward = observer?.observing(forward) ?? forward
    const take = files === undefined ? forward : withFileTexts(forward, files)
    admitted.request.permit?.handOver()
    parts.running.began(admitted.connection)
    admitted.connection.limit(parts.totalMs)
    if (hit === null) appointJudge(admitted)
    try {
      await nextStage
      if (hit !== null) return await replay(admitted, hit, forward)
      const error = wantsHealing(admitted)
        ? await healed(admitted, (pass) => answering(admitted, pass), take)
        : await answering(admitted, take)
      return error === null || files === undefined ? error : failureWithFiles(error, files)
    } catch (thrown) {
      return admitted.log.refuse(asFailure(thrown))
    } finally {
      await nextStage
      admitted.judge?.addEffect()
      room?.free()
      const finished = admitted.end()
      parts.settle(finished)
      traced?.finished(finished)
      kept?.finished(finished)
      // A client that has the end of an answer finds it cached when it asks again.
      if (cache?.outcome === 'miss' && capture !== null) await keepAnswer(admitted, cache, capture)
    }
  }

  return {
    admit: (received) => toPlan(received, admit, parts.noteRefusedHits),
    answer,
    turn,
    dryRun: (received) => toPlan(received, (planned) => dryRun(planned, parts)),
    *unservable(saved) {
      return [...unknownModelsOf(saved.content, parts.models), ...(yield* idleTools(saved, parts))]
    },
    countTokens: (received, connection) => toPlan(received, (planned) => countTokens(planned, connection, parts)),
  }
}

/**
 * Computes in steps the facts that are later needed where nothing can wait, such as at the end of an answer whose provider reported no
 * usage.
 */
function* measuring({ call }: Planned): Steps<void> {
  yield* measuringInput(call.body)
  yield* lookingForWork(call.body)
}

/** Applies the plugins that change the request before it is screened, so that filters also see the text of files. */
const withPlugins = async (
  prepared: Prepared,
  plugins: AskedPlugins,
  parts: ReadFilesParts & Pick<PrepareParts, 'turn'>,
): Promise<Prepared> => {
  const files = plugins.get('file-parser')
  const read = files === undefined ? prepared : await readFiles(prepared, files, parts)
  const adding = withPluginTools(read, plugins)
  return read.call.body.held.length > LARGE_BYTES ? inTurns(adding, parts.turn) : atOnce(adding)
}

function* withPluginTools(prepared: Prepared, plugins: AskedPlugins): Steps<Prepared> {
  let request = prepared
  for (const [id, tool] of PLUGIN_TOOLS) {
    const options = plugins.get(id)
    if (options !== undefined) request = yield* withTool(request, tool, options)
  }
  return request
}

const PLUGIN_TOOLS = [
  ['web-fetch', 'web_fetch'],
  ['fusion', 'fusion'],
] as const
