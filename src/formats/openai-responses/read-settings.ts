/** Reads the settings of a Responses body that are not a single field (docs/contract/responses.md#request). */
import type { ReasoningSetting, Settings } from '../../canonical/settings.ts'
import { serverToolName } from '../../canonical/server-tool-name.ts'
import { LOGPROBS_INCLUDED, SEALED_THINKING } from '../../request-fields/schemas/output.ts'
import { type Node, optionalChild, optionalFlag, optionalNumber, optionalText } from '../json-node.ts'
import { mapped, type Reading, reasoningOf, readSettings, text as textSetting, texts, unless } from '../setting-reader.ts'

/** `text`: the body's object with that name. `effort`: what an item of the input changed the effort to. */
export const readResponsesSettings = (root: Node, text: Node | null, effort: Reading<string> | null): Settings => {
  const include = texts(root, 'include')
  return readSettings('responses', root, {
    logprobs: include?.value.includes(LOGPROBS_INCLUDED) === true ? { value: true, field: include.field } : undefined,
    reasoning: readReasoningSetting(root, effort),
    verbosity: text === null ? undefined : textSetting(text, 'verbosity'),
    // A proof of thinking is always in the answer: without it no later turn could continue the thinking.
    include: unless(
      mapped(include, (values) =>
        values.filter((value) => value !== LOGPROBS_INCLUDED && value !== SEALED_THINKING && serverToolName(value) === null),
      ),
      (values) => values.length === 0,
    ),
  })
}

const readReasoningSetting = (root: Node, changed: Reading<string> | null): Reading<ReasoningSetting> | undefined => {
  const reasoning = optionalChild(root, 'reasoning')
  if (reasoning === null) return changed === null ? undefined : reasoningOf({ effort: changed.value } as const, changed.field)
  const effort = optionalText(reasoning, 'effort')
  const olderSummary = optionalText(reasoning, 'generate_summary')
  return reasoningOf(
    {
      enabled: optionalFlag(reasoning, 'enabled'),
      effort: changed?.value ?? effort,
      maxTokens: optionalNumber(reasoning, 'max_tokens'),
      summary: optionalText(reasoning, 'summary') ?? olderSummary,
      exclude: optionalFlag(reasoning, 'exclude'),
    },
    'reasoning',
  )
}
