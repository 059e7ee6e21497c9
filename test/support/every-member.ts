/**
 * Requests that hold each member of the conversation and the tools of the three interfaces, as the types of OpenAI's and Anthropic's SDKs
 * list them, beside the members that clients of this service send. Settings at the top of a request are in fields.test.ts.
 */
import type { ClientDialect } from '../../src/canonical/call.ts'

type Json = Readonly<Record<string, unknown>>

const PNG = 'iVBORw0KGgo='
const PDF = 'JVBERi0='
const PICTURE = `data:image/png;base64,${PNG}`
const SCHEMA = { type: 'object', properties: { city: { type: 'string', description: 'Where?' } }, required: ['city'] }
const mark = { cache_control: { type: 'ephemeral', ttl: '1h' } }
const breakpoint = { prompt_cache_breakpoint: { mode: 'explicit' } }

// Chat Completions.

const hi = { role: 'user', content: 'Hi' }
const chatTool = { type: 'function', function: { name: 'look', description: 'Looks.', parameters: SCHEMA, strict: false } }
const chatCall = { id: 'call_1', type: 'function', index: 0, function: { name: 'look', arguments: '{"city":"Oslo"}' } }
const chatLooked = (call: Json, result: Json, message: Json = {}): Json => ({
  messages: [
    hi,
    { role: 'assistant', content: 'So.', tool_calls: [{ ...chatCall, ...call }], ...message },
    { role: 'tool', tool_call_id: 'call_1', content: 'fog', ...result },
  ],
  tools: [chatTool],
})
const chatSays = (...content: readonly Json[]): Json => ({
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }, ...content] }],
})
const chatAnswered = (answer: Json): Json => ({
  messages: [hi, { role: 'assistant', content: 'Yes', ...answer }, { ...hi, content: 'On' }],
})

const CHAT: Readonly<Record<string, Json>> = {
  'a message of the user': { messages: [{ ...hi, name: 'Ann', newer_7: 'x' }] },
  'a message of the system': { messages: [{ role: 'system', content: 'Be brief.', name: 'Eve', newer_7: 'x' }, hi] },
  'a message of the developer': {
    messages: [{ role: 'developer', content: [{ type: 'text', text: 'Be brief.', ...mark, newer_7: 1 }], name: 'Eve' }, hi],
  },
  'a text': chatSays({ type: 'text', text: 'More', ...mark, newer_7: { a: 1 } }),
  'a breakpoint': chatSays({ type: 'text', text: 'More', prompt_cache_breakpoint: { mode: 'explicit', ttl: '12h' } }),
  'a picture': chatSays({ type: 'image_url', image_url: { url: PICTURE, detail: 'high', newer_7: 1 }, ...mark, newer_7: 1 }),
  'a sound': chatSays({ type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav', newer_7: 1 }, ...breakpoint, newer_7: 1 }),
  'a film': chatSays({ type: 'video_url', video_url: { url: 'data:video/mp4;base64,AAAAIGZ0', newer_7: 1 }, newer_7: 1, ...mark }),
  'a file': chatSays({ type: 'file', file: { file_data: `data:application/pdf;base64,${PDF}`, filename: 'a.pdf', newer_7: 1 }, ...mark }),
  'a file by its id': chatSays({ type: 'file', file: { file_id: 'file-1' } }),
  "Mistral's document": chatSays({
    type: 'document_url',
    document_url: `data:application/pdf;base64,${PDF}`,
    document_name: 'a.pdf',
    newer_7: 1,
  }),
  'an unknown part': chatSays({ type: 'hologram', hologram: { a: 1 } }),
  'an answer': chatAnswered({ name: 'Eve', refusal: 'No.', newer_7: 'x' }),
  'an answer with speech': chatAnswered({ audio: { id: 'audio_1', expires_at: 1, data: 'UklGRg==', transcript: 'Yes' } }),
  'an answer with sources': chatAnswered({
    annotations: [
      { type: 'url_citation', url_citation: { url: 'https://a.example', title: 'A', start_index: 0, end_index: 3, content: 'a' } },
    ],
  }),
  'an answer with another kind of source': chatAnswered({ annotations: [{ type: 'file_citation', file_citation: { a: 1 } }] }),
  'an answer with thinking': chatAnswered({ reasoning: 'Hm.', reasoning_content: 'Hm.' }),
  'an answer with details of thinking': chatAnswered({
    reasoning: 'Hm.',
    reasoning_content: 'Hm.',
    reasoning_details: [
      { type: 'reasoning.text', text: 'Hm.', signature: 'c2ln', format: 'anthropic-claude-v1', index: 0, id: 'r1', newer_7: 1 },
    ],
  }),
  'an answer with a summary': chatAnswered({
    reasoning_details: [{ type: 'reasoning.summary', summary: 'Hm.', format: 'unknown', index: 0 }],
  }),
  'an answer with blocks of thinking': chatAnswered({ thinking_blocks: [{ type: 'thinking', thinking: 'Hm.', signature: 'c2ln' }] }),
  'an answer with a picture': chatAnswered({ images: [{ type: 'image_url', image_url: { url: PICTURE }, index: 0 }] }),
  'an answer in parts': chatAnswered({
    content: [
      { type: 'text', text: 'Yes', ...mark },
      { type: 'refusal', refusal: 'No.' },
    ],
  }),
  'a call': chatLooked({ newer_7: 1, function: { ...chatCall.function, newer_7: 1 } }, { name: 'look', newer_7: 1 }),
  'a call with a signature': chatLooked({ extra_content: { google: { thought_signature: 'c2ln' }, other: { a: 1 } } }, {}),
  'a result in parts': chatLooked(
    {},
    {
      content: [
        { type: 'text', text: 'fog', ...mark },
        { type: 'image_url', image_url: { url: PICTURE, detail: 'low' } },
      ],
    },
  ),
  'a call of a custom tool': {
    messages: [
      hi,
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call_1', type: 'custom', custom: { name: 'sql', input: 'select', newer_7: 1 } }],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'fog' },
    ],
    tools: [
      {
        type: 'custom',
        custom: { name: 'sql', description: 'Asks.', format: { type: 'grammar', grammar: { syntax: 'regex', definition: 'a+' } } },
      },
    ],
  },
  'an older call': {
    messages: [
      hi,
      { role: 'assistant', content: null, function_call: { name: 'look', arguments: '{"city":"Oslo"}' } },
      { role: 'function', name: 'look', content: 'fog' },
    ],
    functions: [chatTool.function],
    function_call: 'auto',
  },
  'a function': {
    messages: [hi],
    tools: [{ ...chatTool, ...mark, defer_loading: false, newer_7: 1, function: { ...chatTool.function, strict: true, newer_7: 1 } }],
  },
  'a choice': { messages: [hi], tools: [chatTool], tool_choice: { type: 'function', function: { name: 'look', newer_7: 1 }, newer_7: 1 } },
  'a choice among some': {
    messages: [hi],
    tools: [chatTool],
    tool_choice: {
      type: 'allowed_tools',
      allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'look' } }], newer_7: 1 },
    },
  },
  'an unknown tool': { messages: [hi], tools: [chatTool, { type: 'telescope', telescope: { a: 1 } }] },
  'a format': {
    messages: [hi],
    response_format: {
      type: 'json_schema',
      json_schema: { name: 'out', description: 'A place.', schema: { ...SCHEMA, additionalProperties: false }, strict: true, newer_7: 1 },
      newer_7: 1,
    },
  },
  'a search': {
    messages: [hi],
    web_search_options: {
      search_context_size: 'high',
      user_location: { type: 'approximate', approximate: { city: 'Oslo', country: 'NO' } },
      newer_7: 1,
    },
  },
}

const CHAT_SETTINGS: Readonly<Record<string, Json>> = {
  settings: {
    messages: [hi],
    temperature: 0.5,
    top_p: 0.5,
    frequency_penalty: 0.5,
    presence_penalty: 0.5,
    seed: 1,
    max_completion_tokens: 77,
    stop: ['END', 'FIN'],
    logit_bias: { 50: 1 },
    logprobs: true,
    top_logprobs: 2,
    verbosity: 'low',
    service_tier: 'flex',
    user: 'u',
    safety_identifier: 's',
    metadata: { a: 'b' },
    prompt_cache_key: 'k',
    prompt_cache_options: { mode: 'explicit', ttl: '30m' },
    prompt_cache_retention: '24h',
    prediction: { type: 'content', content: 'a' },
    parallel_tool_calls: false,
    stream_options: { include_usage: true, include_obfuscation: false, newer_7: 1 },
    store: true,
    tools: [chatTool],
    newer_7: { a: 1 },
  },
  'speech and pictures': {
    messages: [hi],
    modalities: ['text', 'audio'],
    audio: { voice: 'ash', format: 'wav' },
    image_config: { aspect_ratio: '1:1' },
  },
  effort: { messages: [hi], reasoning: { effort: 'high', summary: 'detailed', newer_7: 1 } },
  'hidden thinking': { messages: [hi], reasoning: { max_tokens: 2000, exclude: true } },
  'several answers': { messages: [hi], n: 2 },
}

// Responses.

const asked = { type: 'message', role: 'user', content: 'Hi' }
const said = {
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'Yes', annotations: [] }],
}
const responsesTool = { type: 'function', name: 'look', description: 'Looks.', parameters: SCHEMA, strict: false }
const inputSays = (...content: readonly Json[]): Json => ({
  input: [{ ...asked, content: [{ type: 'input_text', text: 'Hi' }, ...content] }],
})
const inputOf = (...items: readonly Json[]): Json => ({ input: [asked, ...items, asked], store: false })
const inputLooked = (call: Json, output: Json): Json => ({
  ...inputOf(
    { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'look', arguments: '{"city":"Oslo"}', status: 'completed', ...call },
    { type: 'function_call_output', call_id: 'call_1', output: 'fog', ...output },
  ),
  tools: [responsesTool],
})

const RESPONSES: Readonly<Record<string, Json>> = {
  'a message of the user': { input: [{ ...asked, id: 'msg_1', status: 'completed', newer_7: 1 }] },
  'a message of the developer': { input: [{ ...asked, role: 'developer', newer_7: 1 }, asked] },
  'a text': inputSays({ type: 'input_text', text: 'More', ...breakpoint, newer_7: { a: 1 } }),
  'a picture': inputSays({ type: 'input_image', image_url: PICTURE, detail: 'high', ...breakpoint, newer_7: 1 }),
  'a picture by its id': inputSays({ type: 'input_image', file_id: 'file-1', detail: 'auto' }),
  'a file': inputSays({
    type: 'input_file',
    file_data: `data:application/pdf;base64,${PDF}`,
    filename: 'a.pdf',
    detail: 'low',
    ...breakpoint,
    newer_7: 1,
  }),
  'a file by its address': inputSays({ type: 'input_file', file_url: 'https://a.example/a.pdf' }),
  'a sound': inputSays({ type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav', newer_7: 1 }, newer_7: 1 }),
  'an answer': inputOf({
    ...said,
    phase: 'final_answer',
    newer_7: 1,
    content: [
      {
        type: 'output_text',
        text: 'Yes',
        newer_7: 1,
        annotations: [{ type: 'url_citation', url: 'https://a.example', title: 'A', start_index: 0, end_index: 3, newer_7: 1 }],
        logprobs: [{ token: 'Yes', logprob: -0.1, bytes: [1], top_logprobs: [] }],
      },
      { type: 'refusal', refusal: 'No.', newer_7: 1 },
    ],
  }),
  'an answer with another kind of source': inputOf({
    ...said,
    content: [{ type: 'output_text', text: 'Yes', annotations: [{ type: 'file_citation', file_id: 'f', filename: 'a', index: 0 }] }],
  }),
  thinking: inputOf(
    {
      type: 'reasoning',
      id: 'rs_1',
      status: 'completed',
      summary: [{ type: 'summary_text', text: 'Hm.', newer_7: 1 }],
      encrypted_content: 'cHJvb2Y',
      newer_7: 1,
    },
    said,
  ),
  'thinking in full': inputOf(
    {
      type: 'reasoning',
      id: 'rs_1',
      summary: [{ type: 'summary_text', text: 'Hm.' }],
      content: [{ type: 'reasoning_text', text: 'Hm, hm.', newer_7: 1 }],
    },
    said,
  ),
  'a call': inputLooked(
    { caller: { type: 'direct' }, newer_7: 1 },
    { id: 'fo_1', status: 'completed', caller: { type: 'direct' }, newer_7: 1 },
  ),
  'a call from a program': inputLooked(
    { caller: { type: 'program', caller_id: 'p_1' } },
    { caller: { type: 'program', caller_id: 'p_1' } },
  ),
  'a result in parts': inputLooked(
    {},
    {
      output: [
        { type: 'input_text', text: 'fog', newer_7: 1 },
        { type: 'input_image', image_url: PICTURE, detail: 'low' },
      ],
    },
  ),
  'a call of a custom tool': {
    ...inputOf(
      { type: 'custom_tool_call', id: 'ct_1', call_id: 'call_1', name: 'sql', input: 'select', status: 'completed', newer_7: 1 },
      { type: 'custom_tool_call_output', id: 'co_1', call_id: 'call_1', output: 'fog', newer_7: 1 },
    ),
    tools: [
      {
        type: 'custom',
        name: 'sql',
        description: 'Asks.',
        format: { type: 'grammar', syntax: 'regex', definition: 'a+', newer_7: 1 },
        newer_7: 1,
      },
    ],
  },
  'a local shell': {
    ...inputOf(
      {
        type: 'local_shell_call',
        id: 'ls_1',
        call_id: 'call_1',
        status: 'completed',
        action: { type: 'exec', command: ['ls'], env: { A: 'b' }, timeout_ms: 10, user: 'me', working_directory: '/', newer_7: 1 },
        newer_7: 1,
      },
      { type: 'local_shell_call_output', id: 'call_1', output: 'fog', status: 'completed', newer_7: 1 },
    ),
    tools: [{ type: 'local_shell' }],
  },
  'a shell': {
    ...inputOf(
      {
        type: 'shell_call',
        id: 'sh_1',
        call_id: 'call_1',
        status: 'completed',
        action: { commands: ['ls'], timeout_ms: 10, max_output_length: 20, newer_7: 1 },
        environment: { type: 'local', newer_7: 1 },
        newer_7: 1,
      },
      {
        type: 'shell_call_output',
        id: 'so_1',
        call_id: 'call_1',
        max_output_length: 20,
        status: 'completed',
        output: [{ stdout: 'a', stderr: 'b', outcome: { type: 'exit', exit_code: 3, newer_7: 1 }, newer_7: 1 }],
        newer_7: 1,
      },
    ),
    tools: [{ type: 'shell', environment: { type: 'local', skills: [{ name: 's', description: 'd', path: '/s' }] } }],
  },
  'a patch': {
    ...inputOf(
      {
        type: 'apply_patch_call',
        id: 'ap_1',
        call_id: 'call_1',
        status: 'completed',
        operation: { type: 'update_file', path: 'a', diff: '+b', newer_7: 1 },
        newer_7: 1,
      },
      { type: 'apply_patch_call_output', id: 'ao_1', call_id: 'call_1', status: 'failed', output: 'No.', newer_7: 1 },
    ),
    tools: [{ type: 'apply_patch' }],
  },
  'a computer': inputOf(
    {
      type: 'computer_call',
      id: 'cc_1',
      call_id: 'call_1',
      status: 'completed',
      action: { type: 'click', button: 'left', x: 1, y: 2 },
      pending_safety_checks: [{ id: 'sc_1', code: 'c', message: 'm' }],
    },
    {
      type: 'computer_call_output',
      id: 'co_1',
      call_id: 'call_1',
      status: 'completed',
      output: { type: 'computer_screenshot', image_url: PICTURE, file_id: 'file-1' },
      acknowledged_safety_checks: [{ id: 'sc_1', code: 'c', message: 'm' }],
    },
  ),
  'several actions on a computer': inputOf(
    {
      type: 'computer_call',
      id: 'cc_1',
      call_id: 'call_1',
      status: 'completed',
      actions: [{ type: 'screenshot' }],
      pending_safety_checks: [],
    },
    { type: 'computer_call_output', call_id: 'call_1', output: { type: 'computer_screenshot', image_url: PICTURE } },
  ),
  'a search for tools': inputOf(
    {
      type: 'tool_search_call',
      id: 'ts_1',
      call_id: 'call_1',
      execution: 'client',
      status: 'completed',
      arguments: { query: 'a' },
      newer_7: 1,
    },
    {
      type: 'tool_search_output',
      id: 'to_1',
      call_id: 'call_1',
      execution: 'client',
      status: 'completed',
      tools: [{ ...responsesTool, defer_loading: true, newer_7: 1 }],
      newer_7: 1,
    },
  ),
  'tools that were added': {
    input: [{ type: 'additional_tools', id: 'at_1', role: 'developer', tools: [{ ...responsesTool, newer_7: 1 }], newer_7: 1 }, asked],
  },
  'a changed configuration': inputOf({ type: 'configuration_update', id: 'cu_1', reasoning: { effort: 'high', newer_7: 1 }, newer_7: 1 }),
  'a drawn picture': inputOf({
    type: 'image_generation_call',
    id: 'ig_1',
    status: 'completed',
    result: PNG,
    output_format: 'png',
    newer_7: 1,
  }),
  'a search on the web': inputOf(
    { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'a', sources: [] } },
    said,
  ),
  'a search in files': inputOf(
    { type: 'file_search_call', id: 'fs_1', status: 'completed', queries: ['a'], results: [{ text: 'a' }] },
    said,
  ),
  'an interpreter': inputOf(
    { type: 'code_interpreter_call', id: 'ci_1', status: 'completed', code: 'a', container_id: 'c', outputs: [] },
    said,
  ),
  'a call of an MCP server': inputOf({ type: 'mcp_call', id: 'mc_1', server_label: 's', name: 'a', arguments: '{}', output: 'b' }, said),
  'a list of an MCP server': inputOf({ type: 'mcp_list_tools', id: 'ml_1', server_label: 's', tools: [{ name: 'a' }] }, said),
  'an approval': inputOf(
    { type: 'mcp_approval_request', id: 'ma_1', server_label: 's', name: 'a', arguments: '{}' },
    { type: 'mcp_approval_response', approval_request_id: 'ma_1', approve: true, reason: 'r' },
  ),
  'a compaction': inputOf({ type: 'compaction', id: 'cp_1', encrypted_content: 'a' }),
  'an unknown item': inputOf({ type: 'hologram', id: 'h_1', hologram: { a: 1 } }),
  'a function': {
    input: 'Hi',
    tools: [{ ...responsesTool, strict: true, allowed_callers: ['direct'], output_schema: SCHEMA, newer_7: 1 }],
  },
  'a namespace': {
    input: 'Hi',
    tools: [{ type: 'namespace', name: 'ns', description: 'Of a server.', tools: [{ ...responsesTool, newer_7: 1 }], newer_7: 1 }],
  },
  'a search tool': {
    input: 'Hi',
    tools: [
      {
        type: 'web_search',
        search_context_size: 'high',
        filters: { allowed_domains: ['a.example'], newer_7: 1 },
        user_location: { type: 'approximate', city: 'Oslo', newer_7: 1 },
        newer_7: 1,
      },
    ],
  },
  'a choice': { input: 'Hi', tools: [responsesTool], tool_choice: { type: 'function', name: 'look', newer_7: 1 } },
  'a format': {
    input: 'Hi',
    text: {
      format: {
        type: 'json_schema',
        name: 'out',
        description: 'A place.',
        schema: { ...SCHEMA, additionalProperties: false },
        strict: true,
        newer_7: 1,
      },
      newer_7: 1,
    },
  },
  effort: { input: 'Hi', reasoning: { effort: 'high', summary: 'detailed', newer_7: 1 } },
  'a concise summary': { input: 'Hi', reasoning: { effort: 'high', generate_summary: 'concise' } },
  settings: {
    input: 'Hi',
    instructions: 'Be brief.',
    temperature: 0.5,
    top_p: 0.5,
    max_output_tokens: 77,
    top_logprobs: 2,
    include: [
      'file_search_call.results',
      'web_search_call.results',
      'web_search_call.action.sources',
      'message.input_image.image_url',
      'computer_call_output.output.image_url',
      'code_interpreter_call.outputs',
      'reasoning.encrypted_content',
      'message.output_text.logprobs',
    ],
    text: { verbosity: 'low' },
    truncation: 'auto',
    service_tier: 'flex',
    user: 'u',
    safety_identifier: 's',
    metadata: { a: 'b' },
    prompt_cache_key: 'k',
    prompt_cache_options: { mode: 'explicit', ttl: '30m' },
    prompt_cache_retention: '24h',
    parallel_tool_calls: false,
    context_management: [{ type: 'compaction', compact_threshold: 100_000 }],
    image: { context_compression: 'enabled' },
    access_programs: { cyber: 'standard' },
    stream_options: { include_obfuscation: false, newer_7: 1 },
    tools: [responsesTool],
    newer_7: { a: 1 },
  },
}

// Messages.

const block = (...content: readonly Json[]): Json => ({ messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }, ...content] }] })
const answered = (...content: readonly Json[]): Json => ({
  messages: [hi, { role: 'assistant', content }, { role: 'user', content: 'On' }],
})
const tool = { name: 'look', description: 'Looks.', input_schema: SCHEMA }
const use = { type: 'tool_use', id: 'toolu_1', name: 'look', input: { city: 'Oslo' } }
const looked = (call: Json, result: Json): Json => ({
  messages: [
    hi,
    { role: 'assistant', content: [{ ...use, ...call }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'fog', ...result }] },
  ],
  tools: [tool],
})
const served = (name: string, content: unknown, more: Json = {}): Json =>
  answered(
    { type: 'server_tool_use', id: 'srvtoolu_1', name, input: { a: 1 } },
    { type: `${name}_tool_result`, tool_use_id: 'srvtoolu_1', content, ...more },
    { type: 'text', text: 'Yes' },
  )
const pdf = { type: 'base64', media_type: 'application/pdf', data: PDF }

const MESSAGES: Readonly<Record<string, Json>> = {
  'a message of the user': { messages: [{ ...hi, newer_7: 1 }] },
  'a message of the system': {
    messages: [hi, { role: 'assistant', content: 'Yes' }, { role: 'system', content: 'Be brief.', clear_at: 'never', newer_7: 1 }, hi],
  },
  'an effort of the system': { messages: [{ role: 'system', output_config: { effort: 'high', newer_7: 1 } }, hi] },
  'a change of tools': {
    messages: [{ role: 'system', content: [{ type: 'tool_addition', tool: { type: 'tool_reference', name: 'look' } }] }, hi],
    tools: [tool],
  },
  'a system prompt': { messages: [hi], system: [{ type: 'text', text: 'Be brief.', ...mark, newer_7: 1 }] },
  'a text': block({ type: 'text', text: 'More', ...mark, newer_7: { a: 1 } }),
  'a picture': block({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG, newer_7: 1 }, ...mark, newer_7: 1 }),
  'a picture that may not shrink': block({
    type: 'image',
    source: { type: 'base64', media_type: 'image/png', data: PNG },
    transformations: { oversized_image: 'error' },
  }),
  'a picture by its id': block({ type: 'image', source: { type: 'file', file_id: 'file_1' } }),
  'a document': block({
    type: 'document',
    source: { ...pdf, newer_7: 1 },
    title: 'T',
    context: 'C',
    citations: { enabled: true, newer_7: 1 },
    ...mark,
    newer_7: 1,
  }),
  'a document of text': block({
    type: 'document',
    source: { type: 'text', media_type: 'text/plain', data: 'A', newer_7: 1 },
    title: 'T',
    context: 'C',
  }),
  'a document of blocks': block({
    type: 'document',
    source: { type: 'content', content: [{ type: 'text', text: 'A', newer_7: 1 }], newer_7: 1 },
    ...mark,
  }),
  'a result of a search': block({
    type: 'search_result',
    source: 's',
    title: 'T',
    content: [{ type: 'text', text: 'A', newer_7: 1 }],
    citations: { enabled: true },
    ...mark,
    newer_7: 1,
  }),
  'a file for the container': block({ type: 'container_upload', file_id: 'file_1', ...mark }),
  'an unknown block': block({ type: 'hologram', hologram: 1 }),
  'an answer': answered({
    type: 'text',
    text: 'Yes',
    citations: [
      { type: 'web_search_result_location', url: 'https://a.example', title: 'A', cited_text: 'a', encrypted_index: 'b', newer_7: 1 },
    ],
    newer_7: 1,
  }),
  'an answer that cites a document': answered({
    type: 'text',
    text: 'Yes',
    citations: [{ type: 'char_location', cited_text: 'a', document_index: 0, document_title: 'T', start_char_index: 0, end_char_index: 1 }],
  }),
  thinking: answered({ type: 'thinking', thinking: 'Hm.', signature: 'c2ln', newer_7: 1 }, { type: 'text', text: 'Yes' }),
  'sealed thinking': answered({ type: 'redacted_thinking', data: 'ZGF0YQ', newer_7: 1 }, { type: 'text', text: 'Yes' }),
  'a call': looked({ caller: { type: 'direct' }, ...mark, newer_7: 1 }, { newer_7: 1 }),
  'a call by code': looked({ caller: { type: 'code_execution_20250825', tool_id: 'srvtoolu_1' } }, {}),
  'a call of a toolset': looked({ toolset_name: 's' }, { toolset_name: 's' }),
  'a result': looked({}, { is_error: true, ...mark, newer_7: 1 }),
  'a result in blocks': looked(
    {},
    {
      content: [
        { type: 'text', text: 'fog', newer_7: 1 },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG }, newer_7: 1 },
        { type: 'search_result', source: 's', title: 'T', content: [{ type: 'text', text: 'A' }], newer_7: 1 },
      ],
    },
  ),
  'a result that names a tool': looked({}, { content: [{ type: 'tool_reference', tool_name: 'look', ...mark, newer_7: 1 }] }),
  'a state of the browser': looked(
    {},
    {
      content: [
        { type: 'text', text: 'fog' },
        { type: 'browser_state', tabs: [{ tab_id: 't', title: 'T', url: 'u' }] },
      ],
    },
  ),
  'a search that Anthropic ran': served('web_search', [
    { type: 'web_search_result', url: 'https://a.example', title: 'A', encrypted_content: 'b', page_age: '1' },
  ]),
  'a page that Anthropic read': served('web_fetch', {
    type: 'web_fetch_result',
    url: 'https://a.example',
    content: { type: 'document', source: pdf },
  }),
  'code that Anthropic ran': served('code_execution', {
    type: 'code_execution_result',
    stdout: 'a',
    stderr: '',
    return_code: 0,
    content: [],
  }),
  'a shell that Anthropic ran': served('bash_code_execution', {
    type: 'bash_code_execution_result',
    stdout: 'a',
    stderr: '',
    return_code: 0,
    content: [],
  }),
  'an MCP call': answered(
    { type: 'mcp_tool_use', id: 'mcptoolu_1', name: 'a', server_name: 's', input: {} },
    { type: 'mcp_tool_result', tool_use_id: 'mcptoolu_1', is_error: false, content: [{ type: 'text', text: 'b' }] },
    { type: 'text', text: 'Yes' },
  ),
  'a compaction': answered({
    type: 'compaction',
    content: 'We met.',
    signature: 's',
    encrypted_content: 'e',
    tool_changes: [{ type: 'tool_removal' }],
    ...mark,
    newer_7: 1,
  }),
  'a fallback': answered({ type: 'fallback', from: { model: 'a' }, to: { model: 'b' }, trigger: 't' }, { type: 'text', text: 'Yes' }),
  'a function': {
    messages: [hi],
    tools: [
      {
        ...tool,
        type: 'custom',
        strict: true,
        ...mark,
        defer_loading: false,
        allowed_callers: ['code_execution_20260120'],
        input_examples: [{ city: 'Oslo' }],
        eager_input_streaming: true,
        newer_7: 1,
      },
    ],
  },
  'a shell': {
    messages: [hi],
    tools: [
      {
        type: 'bash_20250124',
        name: 'bash',
        ...mark,
        allowed_callers: ['direct'],
        input_examples: [{ command: 'ls' }],
        strict: true,
        defer_loading: false,
      },
    ],
  },
  'a search tool': {
    messages: [hi],
    tools: [
      {
        type: 'web_search_20260318',
        name: 'web_search',
        max_uses: 3,
        allowed_domains: ['a.example'],
        user_location: { type: 'approximate', city: 'Oslo' },
        ...mark,
        allowed_callers: ['direct'],
        defer_loading: false,
        response_inclusion: 'full',
        strict: true,
        newer_7: 1,
      },
    ],
  },
  'a choice': { messages: [hi], tools: [tool], tool_choice: { type: 'tool', name: 'look', disable_parallel_tool_use: true, newer_7: 1 } },
  'an output': {
    messages: [hi],
    output_config: {
      effort: 'high',
      format: { type: 'json_schema', schema: { ...SCHEMA, additionalProperties: false }, newer_7: 1 },
      task_budget: { type: 'tokens', total: 50_000 },
      newer_7: 1,
    },
  },
  'thinking that is asked for': {
    messages: [hi],
    thinking: { type: 'enabled', budget_tokens: 2000, display: 'summarized', block_binding: { type: 'a' }, newer_7: 1 },
  },
  settings: {
    messages: [hi],
    temperature: 0.5,
    top_k: 5,
    stop_sequences: ['END'],
    service_tier: 'standard_only',
    cache_control: { type: 'ephemeral', ttl: '1h' },
    mcp_servers: [{ type: 'url', name: 'm', url: 'https://a.example' }],
    context_management: { edits: [{ type: 'clear_tool_uses_20250919', clear_tool_inputs: true }] },
    diagnostics: { previous_message_id: 'm' },
    billing_policy: { type: 'billing_policy', bill_to: 'self' },
    fallback_credit_token: 't',
    user_profile_id: 'p',
    workspace_id: 'w',
    safeguards: [{ type: 'a' }],
    newer_7: { a: 1 },
  },
  'a fast answer': { messages: [hi], speed: 'fast' },
  'hidden thinking': { messages: [hi], thinking: { type: 'adaptive', display: 'omitted' } },
  'thinking between tools': { messages: [hi], tools: [tool], thinking: { type: 'between_tools' } },
  'a user': { messages: [hi], metadata: { user_id: 'u', newer_7: 1 } },
}

export const EVERY_MEMBER: Readonly<Record<ClientDialect, Readonly<Record<string, Json>>>> = {
  chat: { ...CHAT, ...CHAT_SETTINGS },
  responses: RESPONSES,
  messages: Object.fromEntries(Object.entries(MESSAGES).map(([name, body]) => [name, { max_tokens: 5000, ...body }])),
}
