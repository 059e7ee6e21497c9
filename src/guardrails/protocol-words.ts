/**
 * The parts of a request that are not text: fixed words of the dialects, machine-made ids, and the members that hold them.
 * Everything else counts as text. A word that is missing here does no harm: it is examined, and no filter matches it.
 */
import { fieldsWhere } from '../request-fields/request-fields.ts'
import { SERVICE_FIELDS } from '../request-fields/service-fields.ts'
import { wordSet } from '../lib/text/word-set.ts'

/** Top-level members that select who answers; they never reach a model. Some options of plugins do (input-texts.ts). */
export const UNREAD_FIELDS: ReadonlySet<string> = new Set(['model', ...SERVICE_FIELDS.filter((field) => field !== 'plugins')])

/** Top-level members that a dialect knows; a number under any other name may stand in the template of a model. */
export const KNOWN_FIELDS: ReadonlySet<string> = new Set(fieldsWhere(() => true))

/** Top-level members that hold a conversation or a part of one. */
export const PROMPT_FIELDS: ReadonlySet<string> = new Set(['messages', 'system', 'input', 'instructions', 'prompt', 'prediction'])

/** Top-level members whose shape the dialects define. In any other member everything counts as text. */
export const SHAPED_FIELDS: ReadonlySet<string> = new Set([
  ...PROMPT_FIELDS,
  ...wordSet(`
  tools functions tool_choice function_call response_format text output_config output_format reasoning reasoning_effort
  thinking modalities include truncation verbosity service_tier speed cache_control prompt_cache_options
  prompt_cache_retention context_management audio image_config web_search_options stream_options encoding_format
  input_type
`),
])

/** Members whose objects the dialects define. Objects in any other member are defined by a tool or a developer. */
export const SHAPED_MEMBERS = wordSet(`
  content summary output outputs results citations annotations reasoning_details thinking_blocks system tool_calls function_call
  function functions custom tools tool allowed_tools operation image_url input_audio audio file video_url source
  cache_control caller container action output_config format json_schema grammar ranking_options context edits
`)

/** Members that hold a fixed word. */
export const WORD_MEMBERS = wordSet(`
  type role status detail format ttl phase effort mode media_type mime_type syntax scope search_context_size environment
  execution quality size background output_format moderation input_fidelity
`)

const WORDS = wordSet(`
  system developer user assistant tool function model message text refusal reasoning thinking image image_url
  input_image input_audio input_file input_text input_video output_text output_audio summary_text reasoning_text
  reasoning.text reasoning.summary reasoning.encrypted redacted_thinking video_url file document base64 url content
  tool_use tool_result server_tool_use web_search_tool_result web_fetch_tool_result code_execution_tool_result
  bash_code_execution_tool_result tool_search_tool_result text_editor_code_execution_tool_result mcp_tool_use
  mcp_tool_result container_upload search_result tool_reference web_search_result web_fetch_result
  web_search_result_location char_location page_location url_citation content_block_location search_result_location
  file_citation container_file_citation file_path direct function_call function_call_output custom custom_tool_call
  custom_tool_call_output item_reference compaction web_search_call file_search_call computer_call computer_call_output
  computer_screenshot image_generation_call code_interpreter_call local_shell_call local_shell_call_output shell_call
  shell_call_output apply_patch_call apply_patch_call_output mcp_list_tools mcp_call mcp_approval_request
  mcp_approval_response tool_search_call tool_search_output additional_tools search open_page find_in_page exec
  namespace allowed_tools grammar web_search web_search_preview file_search code_interpreter computer
  computer_use_preview image_generation local_shell shell apply_patch mcp bash text_editor memory web_fetch
  code_execution tool_search str_replace_editor str_replace_based_edit_tool tool_search_tool_bm25 tool_search_tool_regex
  advisor mcp_toolset json_object json_schema lark regex ephemeral 5m 1h in_progress completed incomplete failed
  searching interpreting generating calling queued cancelled commentary final_answer server client auto none any
  required low medium high original minimal xhigh max enabled disabled adaptive concise detailed default flex priority
  scale fast standard summarized omitted approximate all_turns wav mp3 flac ogg aac m4a opus pcm16 pcm24 aiff png jpeg
  webp gif opaque transparent image/png image/jpeg image/jpg image/gif image/webp image/heic image/svg+xml
  application/pdf text/plain text/html text/markdown text/csv application/json application/octet-stream audio/wav
  audio/mpeg video/mp4 anthropic-claude-v1 openai-responses-v1 azure-openai-responses-v1 google-gemini-v1
  xai-responses-v1 unknown reasoning.encrypted_content message.output_text.logprobs web_search_call.results
  web_search_call.action.sources float 24h in_memory in-memory explicit implicit audio linux mac windows ubuntu browser
`)

/** Versions of a tool are identified by their release date. */
const DATE = /_20\d{6}$|_20\d\d_\d\d_\d\d$/

export const isFixedWord = (value: string): boolean => WORDS.has(value) || (DATE.test(value) && WORDS.has(value.replace(DATE, '')))

export const ID_MEMBERS: ReadonlySet<string> = new Set(['id', 'call_id', 'tool_call_id', 'tool_use_id', 'item_id', 'approval_request_id'])

/** Ids in the vendors' formats, which nobody uses as readable text. */
const MADE_ID =
  /^(?:(?:call|fc|ctc|toolu|srvtoolu|mcptoolu|msg|rs|ws|fs|ci|ig|mcp|mcpl|mcpr|item|chatcmpl-tool)[_-]{1,2}[A-Za-z0-9]{16,128}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/

export const isMadeId = (value: string): boolean => MADE_ID.test(value)

/** Keywords and types of JSON Schema: a property with such a name conveys no more than the keyword. */
const SCHEMA_WORDS = wordSet(`
  string number integer boolean object array null $schema $id $ref $defs definitions $comment type title description
  properties required additionalProperties patternProperties propertyNames items prefixItems enum const default examples
  anyOf oneOf allOf not if then else format pattern minimum maximum exclusiveMinimum exclusiveMaximum multipleOf
  minLength maxLength minItems maxItems uniqueItems minProperties maxProperties nullable strict deprecated readOnly
  writeOnly
`)

export const isSchemaWord = (text: string): boolean => SCHEMA_WORDS.has(text)

/** Returns true for a member name that conveys nothing by itself. */
export const isPlainName = (name: string): boolean => name.length <= 32 && /^[A-Za-z_$-]*$/.test(name)
