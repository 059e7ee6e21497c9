/** The tool that the model must, may or must not call (docs/contract/responses.md#request). */
import { z } from 'zod'

import { serverToolTypes } from '../../canonical/server-tool-name.ts'
import { SERVER_TOOLS } from '../../canonical/server-tools.ts'
import { optionalText } from './scalars.ts'

const HOSTED_TYPES = [
  'web_search_preview',
  'web_search_preview_2025_03_11',
  'web_search',
  'web_search_2025_08_26',
  'file_search',
  'computer_use_preview',
  'code_interpreter',
  'image_generation',
  'local_shell',
  'shell',
  'apply_patch',
  'computer',
  'programmatic_tool_calling',
] as const

/** A tool that is chosen by its type alone. Any other type belongs to a tool that is newer than this release, as in `tools`. */
const chosenByType = z.looseObject({
  type: z
    .string()
    .regex(/^(?!(?:function|custom|mcp|allowed_tools)$)/, { error: 'Expected the members of this type beside it.', abort: true })
    .meta({ examples: [...HOSTED_TYPES, ...SERVER_TOOLS.flatMap(serverToolTypes)] }),
})

export const responsesToolChoice = z
  .union([
    z.enum(['auto', 'none', 'required']),
    z.discriminatedUnion('type', [
      z.looseObject({ type: z.enum(['function', 'custom']), name: z.string().min(1) }),
      z.looseObject({ type: z.literal('mcp'), server_label: z.string().min(1), name: optionalText }),
      z.looseObject({
        type: z.literal('allowed_tools'),
        mode: z.enum(['auto', 'required']),
        tools: z.array(z.looseObject({ type: z.string() })),
      }),
    ]),
    chosenByType,
  ])
  .meta({ id: 'ResponsesToolChoice' })
