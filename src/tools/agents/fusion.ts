/** Several models answer one question in parallel, and one more compares their answers. */
import { z } from 'zod'

import { argumentSchema } from '../../canonical/argument-schema.ts'
import type { Message } from '../../canonical/prompt.ts'
import { serverToolName } from '../../canonical/server-tool-name.ts'
import { invalidField, validate } from '../../contract/validate.ts'
import { GatewayError } from '../../errors.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import type { ModelAnswer, Question } from '../ask.ts'
import { failed, type AskedTool, type MakeTool, type ToolCaller, type ToolResult, type ToolTurn } from '../tool.ts'
import { createCallCount, modelMembers, questionOptions, textPart } from './agent-options.ts'
import { analysisIn, ANALYST_INSTRUCTIONS, analystQuestion } from './fusion-analysis.ts'
import { checkInnerTools } from './inner-tools.ts'

const options = z.looseObject({
  ...modelMembers,
  analysis_models: z.array(z.string().min(1).max(200)).min(1).max(8).optional(),
  preset: z.string().max(100).optional(),
  max_tool_calls: z.int().min(1).max(16).default(4),
  max_completion_tokens: z.int().min(1).default(16_000),
  tools: z
    .array(z.looseObject({ type: z.string() }))
    .max(8)
    .optional(),
})

const asked = z.looseObject({ prompt: z.string().optional() })

export interface FusionSettings {
  readonly presets: Readonly<Record<string, readonly string[]>>
}

/** `defaultTools`: the tools of a panel unless the client names others, as far as they can run. */
export const fusionTool = ({ presets }: FusionSettings, defaultTools: Readonly<Record<string, MakeTool>>): MakeTool => {
  const countCall = createCallCount()
  return (tool, caller) => {
    const { parameters, at } = tool
    const read = validate(options, parameters, [at, 'parameters'])
    const models = read.analysis_models ?? modelsOf(read.preset, presets, tool)
    if (read.tools !== undefined) checkInnerTools(read.tools, `${at}.parameters.tools`, 'fusion')
    const tools: readonly { readonly type: string }[] = read.tools ?? runnable(defaultTools, tool, caller)
    return {
      description:
        'Asks several models the same question at once and compares their answers: where they agree, where they contradict each other, ' +
        'and what only one of them saw. It is slow and dear; call it once, for a question that deserves it.',
      parameters: argumentSchema(
        {
          prompt: { type: 'string', description: 'The question, with all that is needed to answer it; left out: the user’s last message.' },
        },
        [],
      ),
      async run(input, turn) {
        const wanted = asked.safeParse(input)
        const said = wanted.data?.prompt?.trim() ?? ''
        const prompt = said === '' ? lastWords(turn.prompt.messages) : said
        if (!wanted.success || prompt === '') return failed('invalid_tool_input', 'A fusion needs a prompt.', { status: 'error' })
        if (countCall(caller) > 1) return failure('fusion_invocation_capped', 'max_uses_exceeded', 'A request has one fusion.')
        const panel = await Promise.all(
          models.map((model) =>
            askPanel(
              {
                model,
                messages: [{ role: 'user', parts: [textPart(prompt)] }],
                given: turn.prompt.messages,
                options: {
                  ...questionOptions(read),
                  ...(tools.length === 0 ? {} : { tools, max_tool_calls: read.max_tool_calls }),
                },
              },
              turn,
            ),
          ),
        )
        const answers = panel.filter((answer) => answer.fault === null)
        if (answers.length === 0) return allFailed(panel)
        const responses = answers.map(({ model, text }) => ({ model, content: text }))
        const failedModels = panel.flatMap((answer, index) =>
          answer.fault === null ? [] : [{ model: models[index] ?? answer.model, error: answer.fault.message }],
        )
        const analysis = await analyse(prompt, responses, read.model ?? turn.model, read, turn)
        return {
          fault: null,
          value: {
            status: 'ok',
            ...(analysis === null ? {} : { analysis }),
            responses,
            ...(failedModels.length === 0 ? {} : { failed_models: failedModels }),
          },
        }
      },
    }
  }
}

/** Calls one model of the panel, and reports its progress if the client asked for it. */
const askPanel = async (question: Question, { ask, signal, reportProgress }: ToolTurn): Promise<ModelAnswer> => {
  if (reportProgress === undefined) return ask(question, signal)
  const { model } = question
  await reportProgress({ step: 'panel-begun', model })
  const answer = await ask(
    {
      ...question,
      onText: (text) => reportProgress({ step: 'panel-text', model, text }),
      onReasoning: (text) => reportProgress({ step: 'panel-reasoning', model, text }),
    },
    signal,
  )
  await reportProgress(
    answer.fault === null
      ? { step: 'panel-answered', model, text: answer.text }
      : { step: 'panel-failed', model, error: answer.fault.message },
  )
  return answer
}

const modelsOf = (preset: string | undefined, presets: FusionSettings['presets'], { at, askedAs }: AskedTool): readonly string[] => {
  const name = preset ?? Object.keys(presets)[0] ?? ''
  const models = Object.hasOwn(presets, name) ? presets[name] : undefined
  if (models !== undefined) return models
  const path = `${at}.parameters.${preset === undefined ? 'analysis_models' : 'preset'}`
  const configured = Object.keys(presets)
  throw invalidField(
    path,
    configured.length === 0
      ? `${askedAs} needs analysis_models: none are configured (tools.fusion.presets).`
      : `There is no such preset of models; there are ${configured.join(', ')} (tools.fusion.presets).`,
  )
}

const runnable = (tools: Readonly<Record<string, MakeTool>>, { at }: AskedTool, caller: ToolCaller): readonly { readonly type: string }[] =>
  Object.entries(tools).flatMap(([type, make]) => {
    if (caller.denied.some((tool) => tool === serverToolName(type))) return []
    try {
      make({ tool: 'fusion', askedAs: type, at, parameters: {} }, caller)
      return [{ type }]
    } catch (thrown) {
      if (thrown instanceof GatewayError) return []
      throw thrown
    }
  })

const lastWords = (messages: readonly Message[]): string =>
  messages
    .filter(({ role }) => role === 'user')
    .map(({ parts }) => parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n'))
    .findLast((text) => text.trim() !== '') ?? ''

/** Returns null if the analysis fails or cannot be parsed: then only the answers are returned. */
const analyse = async (
  prompt: string,
  responses: readonly { readonly model: string; readonly content: string }[],
  model: string,
  read: z.output<typeof options>,
  { ask, signal, reportProgress }: ToolTurn,
): Promise<JsonObject | null> => {
  await reportProgress?.({ step: 'analysis-begun', model })
  const answer = await ask(
    {
      model,
      messages: [
        { role: 'system', parts: [textPart(ANALYST_INSTRUCTIONS)] },
        { role: 'user', parts: [textPart(analystQuestion(prompt, responses))] },
      ],
      options: { ...questionOptions(read), temperature: 0 },
    },
    signal,
  )
  const analysis = answer.fault === null ? analysisIn(answer.text) : null
  if (analysis !== null) await reportProgress?.({ step: 'analysis-made', analysis })
  return analysis
}

const allFailed = (panel: readonly ModelAnswer[]): ToolResult => {
  const faults = panel.flatMap((answer) => (answer.fault === null ? [] : [answer]))
  const models = { failed_models: faults.map(({ model, fault }) => ({ model, error: fault.message })) }
  if (faults.some(({ isUnpaid }) => isUnpaid)) {
    return failure('insufficient_credits', 'unavailable', 'The budgets do not bear the models of a fusion.', models)
  }
  return faults.every(({ fault }) => fault.code === 'too_many_requests')
    ? failure('rate_limited', 'too_many_requests', 'Every model of the fusion was rate limited.', models)
    : failure('all_panels_failed', 'unavailable', 'No model of the fusion answered.', models)
}

const failure = (reason: string, code: NonNullable<ToolResult['fault']>['code'], message: string, more: JsonObject = {}): ToolResult => ({
  fault: { code, message },
  value: { status: 'error', failure_reason: reason, error: message, ...more },
})
