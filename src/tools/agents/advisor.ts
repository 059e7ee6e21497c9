/** A second model whose advice the first one can ask for, once or several times; it remembers earlier questions. */
import { z } from 'zod'

import { argumentSchema } from '../../canonical/argument-schema.ts'
import { validate } from '../../contract/validate.ts'
import type { Message } from '../../canonical/prompt.ts'
import type { Warning } from '../../canonical/warning.ts'
import { objectIn } from '../../lib/json/json.ts'
import { failed, type MakeTool } from '../tool.ts'
import { agentFailure, agentName, createCallCount, modelMembers, questionOptions, textPart } from './agent-options.ts'
import { exchangesOf, withoutServerTools } from './earlier-calls.ts'

const options = z.looseObject({
  ...modelMembers,
  name: agentName,
  instructions: z.string().optional(),
  forward_transcript: z.boolean().default(false),
  stream: z.boolean().default(false),
  /** Accepted because some clients set it for every agent; an advisor has no tools. */
  max_tool_calls: z.int().min(1).max(25).optional(),
  /** Options of Anthropic's own advisor. */
  max_uses: z.int().min(1).default(Number.MAX_SAFE_INTEGER),
})

const asked = z.looseObject({ prompt: z.string().optional(), model: z.string().min(1).max(200).optional() })

export const advisorTool = ({ max_calls: mostCalls }: { readonly max_calls: number }): MakeTool => {
  const countCall = createCallCount()
  return ({ parameters, at }, caller) => {
    const read = validate(options, parameters, [at, 'parameters'])
    let uses = 0
    return {
      ...(read.max_tool_calls === undefined ? {} : { warnings: [unheeded(`${at}.parameters.max_tool_calls`)] }),
      description:
        `Asks ${read.name === undefined ? 'an advisor' : `the advisor "${read.name}"`}, another model, for advice. ` +
        (read.forward_transcript
          ? 'The advisor reads the whole conversation so far; a prompt may say what the advice is wanted for.'
          : 'The advisor reads the prompt, and what you asked it before, and nothing else: say all that it has to know.'),
      parameters: argumentSchema(
        {
          prompt: { type: 'string', description: 'What the advisor is asked.' },
          ...(read.model === undefined ? { model: { type: 'string', description: 'The model to ask; left out: your own.' } } : {}),
        },
        read.forward_transcript ? [] : ['prompt'],
      ),
      async run(input, turn) {
        const wanted = asked.safeParse(input)
        const prompt = wanted.data?.prompt?.trim() ?? ''
        if (!wanted.success || (prompt === '' && !read.forward_transcript)) {
          return failed('invalid_tool_input', 'An advisor needs a prompt.', { status: 'error' })
        }
        if (uses >= read.max_uses || countCall(caller) > mostCalls) {
          return failed('max_uses_exceeded', 'The advisor was asked as often as this request allows.', { status: 'error' })
        }
        uses += 1
        const answer = await turn.ask(
          {
            model: read.model ?? wanted.data.model ?? turn.model,
            messages: [
              ...(read.instructions === undefined ? [] : [{ role: 'system', parts: [textPart(read.instructions)] } as const]),
              ...(read.forward_transcript ? withoutServerTools(turn.prompt.messages) : []),
              ...memoryOf(turn.prompt.messages, turn.name),
              ...(prompt === '' ? [] : [{ role: 'user', parts: [textPart(prompt)] } as const]),
            ],
            options: questionOptions(read),
            isAdvice: true,
            ...(turn.reportProgress === undefined ? {} : { onText: (text) => turn.reportProgress?.({ step: 'advice', text }) }),
          },
          turn.signal,
        )
        return answer.fault === null
          ? { fault: null, value: { status: 'ok', model: answer.model, advice: answer.text } }
          : agentFailure(answer.fault)
      },
    }
  }
}

const unheeded = (field: string): Warning => ({
  code: 'unsupported_field',
  field,
  message: 'An advisor has no tools, so a bound on its calls changes nothing.',
})

/** Earlier questions to this advisor in the conversation, with its answers. */
const memoryOf = (messages: readonly Message[], name: string): readonly Message[] =>
  exchangesOf(messages, name, MEMORY_CHARACTERS).flatMap(({ call, result }) => {
    const { prompt } = objectIn(call) ?? {}
    const { advice } = objectIn(result) ?? {}
    if (typeof advice !== 'string' || advice === '') return []
    return [
      ...(typeof prompt === 'string' && prompt !== '' ? [{ role: 'user', parts: [textPart(prompt)] } as const] : []),
      { role: 'assistant', parts: [textPart(advice)] } as const,
    ]
  })

/** Characters of earlier exchanges; longer memories lose their middle. */
const MEMORY_CHARACTERS = 200_000
