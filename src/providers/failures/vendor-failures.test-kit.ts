/** Bodies that vendors really send, and the errors that they become: one row for each way in which a vendor words a fault. */
import type { ErrorType } from '../../errors.ts'

/** Status, body, type; then the provider's code and its reason, if they must be shown. */
export type Row = readonly [number, object | string, ErrorType, (string | undefined)?, (string | RegExp)?]

export const openai = (message: string, type: string | null, code: string | number | null, param: string | null = null): object => ({
  error: { message, type, param, code },
})

export const VENDORS: Readonly<Record<string, readonly Row[]>> = {
  'GitHub Models': [
    [
      413,
      { error: { code: 'tokens_limit_reached', message: 'Request body too large for gpt-4o model. Max size: 8000 tokens.', details: 'x' } },
      'context_length_exceeded',
    ],
    [400, { error: { code: 'unavailable_model', message: 'Unavailable model: x', details: 'x' } }, 'not_found'],
  ],
  'Hugging Face router': [
    [
      400,
      openai("The requested model 'x' is not supported by any provider you have enabled.", 'invalid_request_error', 'model_not_supported'),
      'not_found',
    ],
  ],
  'Cloudflare Workers AI': [
    [
      429,
      {
        success: false,
        errors: [{ code: 3040, message: 'AiError: Capacity temporarily exceeded, please try again.' }],
        result: {},
        messages: [],
      },
      'provider_overloaded',
    ],
  ],
  NVIDIA: [
    [400, { status: 400, title: 'Bad Request', detail: "Function id 'x': DEGRADED function cannot be invoked" }, 'provider_unavailable'],
  ],
  'SambaNova, in sentences': [
    [
      400,
      openai(
        'Requested generation length 4096 is not possible! The provided prompt is 6000 tokens long, but the maximum supported sequence length is just 8192!',
        'Error',
        null,
      ),
      'context_length_exceeded',
    ],
  ],
  LiteLLM: [
    [400, openai('Budget has been exceeded! Current cost: 10.1, Max budget: 10.0', 'budget_exceeded', '400'), 'provider_unavailable'],
  ],
  OpenAI: [
    [
      400,
      openai(
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 130012 tokens.",
        'invalid_request_error',
        'context_length_exceeded',
        'messages',
      ),
      'context_length_exceeded',
      'context_length_exceeded',
      /^Acme: This model's maximum context length is 128000/,
    ],
    [
      400,
      openai(
        "Invalid 'messages[0].content': string too long. Expected a string with maximum length 10485760, but got a string with length 10485761 instead.",
        'invalid_request_error',
        'string_above_max_length',
        'messages[0].content',
      ),
      'string_too_long',
    ],
    [
      400,
      openai(
        'Could not finish the message because max_tokens or model output limit was reached. Please try again with higher max_tokens.',
        'invalid_request_error',
        null,
      ),
      'max_tokens_exceeded',
    ],
    [
      400,
      openai(
        "Invalid value: 'robot'. Supported values are: 'system' and 'user'.",
        'invalid_request_error',
        'invalid_value',
        'messages[0].role',
      ),
      'invalid_prompt',
      'invalid_value',
    ],
    [
      400,
      openai("Unsupported value: 'temperature' does not support 0.2.", 'invalid_request_error', 'unsupported_value', 'temperature'),
      'invalid_request',
    ],
    [
      400,
      openai('Your request was rejected as a result of our safety system.', 'image_generation_user_error', 'moderation_blocked'),
      'content_policy_violation',
    ],
    [
      400,
      openai(
        'Invalid prompt: your prompt was flagged as potentially violating our usage policy.',
        'invalid_request_error',
        'invalid_prompt',
      ),
      'content_policy_violation',
    ],
    [
      400,
      openai('Error while downloading https://x.example/a.png.', 'invalid_request_error', 'invalid_image_url', 'url'),
      'image_download_failed',
    ],
    [
      400,
      openai('Expected a valid URL, but got a value with an invalid format.', 'invalid_request_error', 'invalid_image_url'),
      'image_not_found',
    ],
    [
      400,
      openai(
        "You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png', 'jpeg', 'gif', 'webp'].",
        'invalid_request_error',
        'invalid_image_format',
      ),
      'unsupported_image_format',
    ],
    [
      400,
      openai('You uploaded an unsupported image. Please make sure your image is valid.', 'invalid_request_error', 'image_parse_error'),
      'invalid_image',
    ],
    [
      401,
      openai('Incorrect API key provided: sk-proj-abcdefghijklmnop.', 'invalid_request_error', 'invalid_api_key'),
      'provider_unavailable',
    ],
    [
      404,
      openai('The model `gpt-9` does not exist or you do not have access to it.', 'invalid_request_error', 'model_not_found'),
      'not_found',
    ],
    [
      429,
      openai(
        'Rate limit reached for gpt-5 in organization org-abcdefghijklmnop on tokens per min. Please try again in 6.2s.',
        'tokens',
        'rate_limit_exceeded',
      ),
      'rate_limit_exceeded',
      'rate_limit_exceeded',
      /organization \[redacted\]/,
    ],
    [
      429,
      openai('You exceeded your current quota, please check your plan and billing details.', 'insufficient_quota', 'insufficient_quota'),
      'provider_unavailable',
      'insufficient_quota',
      /credential/,
    ],
    [429, openai('That model is currently overloaded with other requests.', 'server_error', null), 'provider_overloaded'],
    [500, openai('The server had an error while processing your request. Sorry about that!', 'server_error', null), 'server'],
    [503, openai('The engine is currently overloaded, please try again later.', 'server_error', null), 'provider_overloaded'],
    [503, openai('Slow down.', 'server_error', 'slow_down'), 'provider_overloaded'],
  ],
  'Azure OpenAI': [
    [
      400,
      {
        error: {
          message: "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
          type: null,
          param: 'prompt',
          code: 'content_filter',
          status: 400,
          innererror: {
            code: 'ResponsibleAIPolicyViolation',
            content_filter_result: {
              hate: { filtered: false, severity: 'safe' },
              violence: { filtered: true, severity: 'medium' },
              jailbreak: { filtered: true, detected: true },
            },
          },
        },
      },
      'content_policy_violation',
      'ResponsibleAIPolicyViolation',
      /content management policy/,
    ],
    [
      404,
      { error: { code: 'DeploymentNotFound', message: 'The API deployment for this resource does not exist.' } },
      'not_found',
      'DeploymentNotFound',
    ],
    [
      401,
      { error: { code: '401', message: 'Access denied due to invalid subscription key or wrong API endpoint.' } },
      'provider_unavailable',
    ],
    [
      429,
      { error: { code: '429', message: 'Requests have exceeded call rate limit. Please retry after 20 seconds.' } },
      'rate_limit_exceeded',
      '429',
    ],
  ],
  Mistral: [
    [
      400,
      {
        object: 'error',
        message: 'Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
        type: 'invalid_request_prompt_too_long',
        param: null,
        code: '3051',
      },
      'context_length_exceeded',
      '3051',
    ],
    [
      400,
      { object: 'error', message: 'Invalid model: mistral-nope', type: 'invalid_model', param: null, code: '1500' },
      'not_found',
      '1500',
    ],
    [
      429,
      {
        object: 'error',
        message: 'Service tier capacity exceeded for this model.',
        type: 'service_tier_capacity_exceeded',
        param: null,
        code: '3505',
      },
      'provider_overloaded',
      '3505',
    ],
    [429, { message: 'Requests rate limit exceeded' }, 'rate_limit_exceeded'],
    [401, { detail: 'Unauthorized' }, 'provider_unavailable'],
    [
      422,
      {
        object: 'error',
        message: { detail: [{ type: 'missing', loc: ['body', 'messages'], msg: 'Field required' }] },
        type: 'invalid_request_error',
        param: null,
        code: null,
      },
      'unprocessable',
      'invalid_request_error',
      'Acme: messages: Field required',
    ],
    [
      400,
      {
        object: 'error',
        message: 'Image could not be loaded from url: https://x.example/a.png',
        type: 'invalid_request_file',
        code: '3310',
      },
      'image_download_failed',
    ],
  ],
  Groq: [
    [
      400,
      openai('Please reduce the length of the messages or completion.', 'invalid_request_error', 'context_length_exceeded', 'messages'),
      'context_length_exceeded',
    ],
    [
      413,
      openai('Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 7000.', 'tokens', 'rate_limit_exceeded'),
      'rate_limit_exceeded',
    ],
    [
      400,
      openai('The model `x` has been decommissioned and is no longer supported.', 'invalid_request_error', 'model_decommissioned'),
      'not_found',
    ],
    [
      400,
      openai('Failed to call a function. Please adjust your prompt.', 'invalid_request_error', 'tool_use_failed'),
      'invalid_request',
      'tool_use_failed',
    ],
    [498, openai('Flex tier capacity exceeded.', 'internal_server_error', 'capacity_exceeded'), 'provider_overloaded', 'capacity_exceeded'],
    [498, '', 'provider_overloaded'],
  ],
  DeepSeek: [
    [
      402,
      openai('Insufficient Balance', 'unknown_error', 'invalid_request_error'),
      'provider_unavailable',
      'invalid_request_error',
      /credential/,
    ],
    [400, openai('Content Exists Risk', 'invalid_request_error', 'invalid_request_error'), 'content_policy_violation'],
    [400, openai('Model Not Exist', 'invalid_request_error', 'invalid_request_error'), 'not_found'],
    [
      400,
      openai(
        "This model's maximum context length is 65536 tokens. However, you requested 70000 tokens.",
        'invalid_request_error',
        'invalid_request_error',
      ),
      'context_length_exceeded',
    ],
    [503, openai('Service is too busy.', 'service_unavailable_error', 'service_unavailable_error'), 'provider_overloaded'],
  ],
  xAI: [
    [
      400,
      {
        code: 'Client specified an invalid argument',
        error: "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
      },
      'context_length_exceeded',
      'Client specified an invalid argument',
    ],
    [
      403,
      {
        code: 'The caller does not have permission to execute the specified operation',
        error: 'Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO',
      },
      'content_policy_violation',
    ],
    [
      429,
      {
        code: 'Some resource has been exhausted',
        error: 'Your team has either used all available credits or reached its monthly spending limit.',
      },
      'provider_unavailable',
    ],
    [400, { code: 'invalid-argument', error: 'Incorrect API key provided: xa***bc.' }, 'provider_unavailable'],
    [
      404,
      { code: 'Some requested entity was not found', error: 'The model grok-9 does not exist or your team does not have access to it.' },
      'not_found',
    ],
  ],
  Together: [
    [
      422,
      openai(
        'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens and 100 `max_new_tokens`',
        'invalid_request_error',
        null,
      ),
      'context_length_exceeded',
    ],
    [
      400,
      openai("The input (9000 tokens) is longer than the model's context length (8192 tokens).", 'invalid_request_error', null),
      'context_length_exceeded',
    ],
    [
      404,
      openai('Unable to access model x. Please visit the list of supported models', 'invalid_request_error', 'model_not_available'),
      'not_found',
    ],
    [503, openai('The server is currently overloaded.', 'service_unavailable', null), 'provider_overloaded'],
    [529, '', 'provider_overloaded'],
  ],
  Portkey: [
    [
      446,
      {
        error: { message: 'The guardrail checks defined in the config failed.', type: 'hooks_failed', param: null, code: null },
        hook_results: { before_request_hooks: [{ verdict: false }] },
      },
      'content_policy_violation',
      'hooks_failed',
    ],
    [446, '', 'content_policy_violation'],
    [
      412,
      { status: 'failure', message: 'Portkey Error: Portkey API Key Usage Limit Exceeded. Error Code: 04' },
      'provider_unavailable',
      undefined,
      /credential/,
    ],
    [412, { error: { message: 'The budget of this virtual key is exhausted.' } }, 'provider_unavailable', undefined, /credential/],
  ],
  Fireworks: [
    [
      400,
      openai('The prompt is too long: 204800, model maximum context length: 131072', 'invalid_request_error', null),
      'context_length_exceeded',
    ],
    [404, openai('Model not found, inaccessible, and/or not deployed', 'invalid_request_error', 'NOT_FOUND'), 'not_found', 'NOT_FOUND'],
    [
      412,
      openai('Account acme is suspended, possibly due to reaching the monthly spending limit', 'invalid_request_error', null),
      'provider_unavailable',
      'invalid_request_error',
      /credential/,
    ],
  ],
  Cerebras: [
    [
      400,
      {
        message: 'Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192',
        type: 'invalid_request_error',
        param: 'messages',
        code: 'context_length_exceeded',
      },
      'context_length_exceeded',
    ],
    [
      401,
      { message: 'Wrong API Key', type: 'invalid_request_error', param: 'api_key', code: 'wrong_api_key' },
      'provider_unavailable',
      'wrong_api_key',
      /credential/,
    ],
    [
      429,
      {
        message: "We're experiencing high traffic right now! Please try again soon.",
        type: 'too_many_requests_error',
        param: 'queue',
        code: 'queue_exceeded',
      },
      'provider_overloaded',
      'queue_exceeded',
    ],
    [
      429,
      {
        message: 'Requests per minute limit exceeded - too many requests sent.',
        type: 'too_many_requests_error',
        param: 'quota',
        code: 'request_quota_exceeded',
      },
      'rate_limit_exceeded',
    ],
  ],
  Perplexity: [
    [
      400,
      openai("Invalid model 'sonar-9'. Permitted models can be found in the documentation.", 'invalid_model', 400),
      'not_found',
      'invalid_model',
    ],
    [400, openai('The total length of all messages is too long.', 'too_many_prompt_tokens', 400), 'context_length_exceeded'],
    [400, openai('Last message must have role `user`.', 'invalid_message', 400), 'invalid_request', 'invalid_message'],
    [401, '<html><head><title>401 Authorization Required</title></head></html>', 'provider_unavailable'],
  ],
  Moonshot: [
    [
      400,
      openai('Invalid request: Your request exceeded model token limit: 8192', 'invalid_request_error', null),
      'context_length_exceeded',
    ],
    [
      400,
      openai('The request was rejected because it was considered high risk', 'content_filter', null),
      'content_policy_violation',
      'content_filter',
    ],
    [
      429,
      openai('Your account is suspended, please check your plan and billing details', 'exceeded_current_quota_error', null),
      'provider_unavailable',
    ],
    [429, openai('The engine is currently overloaded, please try again later', 'engine_overloaded_error', null), 'provider_overloaded'],
    [
      429,
      openai('Your account request reached max request: 3, please try again after 1 seconds', 'rate_limit_reached_error', null),
      'rate_limit_exceeded',
    ],
    [404, openai('Not found the model kimi-9 or Permission denied', 'resource_not_found_error', null), 'not_found'],
    [
      400,
      openai('Invalid request: total message size 2100954 exceeds limit 2097152', 'invalid_request_error', null),
      'context_length_exceeded',
    ],
    [400, openai('Input token length too long', 'invalid_request_error', null), 'context_length_exceeded'],
    [
      429,
      openai('Your account org-x request reached TPD rate limit, current: 1500000, limit: 1500000', 'rate_limit_reached_error', null),
      'rate_limit_exceeded',
    ],
  ],
  Zhipu: [
    [400, { error: { code: '1261', message: 'Prompt 超长' } }, 'context_length_exceeded', '1261'],
    [400, { error: { code: '1261', message: 'Prompt exceeds max length' } }, 'context_length_exceeded', '1261'],
    [
      400,
      {
        contentFilter: [{ level: 1, role: 'user' }],
        error: { code: '1301', message: '系统检测到输入或生成内容可能包含不安全或敏感内容,请您避免输入易产生敏感内容的提示语' },
      },
      'content_policy_violation',
      '1301',
    ],
    [429, { error: { code: '1113', message: '您的账户已欠费,请充值后重试' } }, 'provider_unavailable', '1113', /credential/],
    [
      429,
      { error: { code: '1113', message: 'Insufficient balance or no resource package. Please recharge.' } },
      'provider_unavailable',
      '1113',
      /credential/,
    ],
    [400, { error: { code: '1211', message: '模型不存在,请检查模型代码' } }, 'not_found', '1211'],
    [400, { error: { code: '1211', message: 'Unknown Model, please check the model code.' } }, 'not_found', '1211'],
    [429, { error: { code: '1302', message: '您的账户已达到速率限制,请您控制请求频率' } }, 'rate_limit_exceeded', '1302'],
    [429, { error: { code: '1305', message: '该模型当前访问量过大,请您稍后再试' } }, 'provider_overloaded', '1305'],
    [400, { error: { code: '1210', message: 'API 调用参数有误,请检查文档' } }, 'invalid_request', '1210'],
  ],
  MiniMax: [
    [
      400,
      {
        type: 'error',
        error: { type: 'bad_request_error', message: 'invalid params, context window exceeds limit (2013)', http_code: '400' },
      },
      'context_length_exceeded',
    ],
    [
      500,
      { type: 'error', error: { type: 'api_error', message: 'insufficient balance (1008)' }, request_id: 'r' },
      'provider_unavailable',
      'api_error',
      /credential/,
    ],
    [
      429,
      { error: { http_code: '429', message: 'insufficient balance (1008)', type: 'insufficient_balance_error' } },
      'provider_unavailable',
    ],
    [
      400,
      {
        type: 'error',
        error: { type: 'bad_request_error', message: "invalid params, unknown model 'minimax-9' (2013)", http_code: '400' },
      },
      'not_found',
    ],
    [
      400,
      { type: 'error', error: { type: 'bad_request_error', message: 'invalid params, unknown model param x (2013)', http_code: '400' } },
      'invalid_request',
    ],
  ],
  Volcengine: [
    [
      400,
      openai('Input length 203743 exceeds the maximum length 202752. Request id: 02', 'BadRequest', 'InvalidParameter'),
      'context_length_exceeded',
    ],
    [
      400,
      openai('Total tokens of image and text exceed max message tokens. Request id: 02', 'BadRequest', 'InvalidParameter'),
      'context_length_exceeded',
    ],
    [
      400,
      openai(
        'The request failed because the input text may contain sensitive information.',
        'BadRequest',
        'SensitiveContentDetected.Violence',
      ),
      'content_policy_violation',
      'SensitiveContentDetected.Violence',
    ],
    [400, openai('Please try again.', 'BadRequest', 'InputTextSensitiveContentDetected'), 'content_policy_violation'],
    [400, openai('Please try again.', 'BadRequest', 'OutputTextRiskDetection'), 'content_policy_violation'],
    [
      403,
      openai('The request failed because your account has an overdue balance.', 'Forbidden', 'AccountOverdueError'),
      'provider_unavailable',
      'AccountOverdueError',
      /credential/,
    ],
    [
      404,
      openai('The model or endpoint x does not exist or you do not have access to it.', 'NotFound', 'InvalidEndpointOrModel.NotFound'),
      'not_found',
    ],
    [400, openai('The request targeted an endpoint that is closed.', 'BadRequest', 'InvalidEndpoint.ClosedEndpoint'), 'not_found'],
    [404, openai('Your account 1 has not activated the model x.', 'NotFound', 'ModelNotOpen'), 'not_found'],
    [
      429,
      openai(
        'The Tokens Per Minute (TPM) limit of the associated endpoint for your account has been exceeded.',
        'TooManyRequests',
        'RateLimitExceeded.EndpointTPMExceeded',
      ),
      'rate_limit_exceeded',
    ],
    [429, openai('The service is currently unable to handle it.', 'TooManyRequests', 'ServerOverloaded'), 'provider_overloaded'],
  ],
  Baidu: [
    [400, openai('Prompt tokens too long', 'invalid_request_error', 'tokens_too_long'), 'context_length_exceeded', 'tokens_too_long'],
    [400, openai('the max input characters is 516096', 'invalid_request_error', 'characters_too_long'), 'context_length_exceeded'],
    [400, openai('the content is refused', 'unsafe_request', 'image_url_unsafe'), 'content_policy_violation'],
    [
      429,
      openai('Your account has insufficient balance', 'billing', 'BILLING_INSUFFICIENT_BALANCE'),
      'provider_unavailable',
      'BILLING_INSUFFICIENT_BALANCE',
      /credential/,
    ],
  ],
  SiliconFlow: [
    [
      400,
      { code: 20015, message: 'length of prompt_tokens (140000) must be less than max_seq_len (131072).', data: null },
      'context_length_exceeded',
    ],
    [400, { code: 20012, message: 'Model does not exist. Please check it carefully.', data: null }, 'not_found'],
    [403, { code: 30001, message: 'Sorry, your account balance is insufficient', data: null }, 'provider_unavailable'],
  ],
  Alibaba: [
    [
      400,
      openai('Input data may contain inappropriate content.', 'data_inspection_failed', 'data_inspection_failed'),
      'content_policy_violation',
      'data_inspection_failed',
    ],
    [
      400,
      { code: 'DataInspectionFailed', message: 'Output data may contain inappropriate content.', request_id: 'r-1' },
      'content_policy_violation',
      'DataInspectionFailed',
    ],
    [
      400,
      openai('Range of input length should be [1, 30720]', 'invalid_request_error', 'invalid_parameter_error'),
      'context_length_exceeded',
    ],
    [
      400,
      openai(
        'The image length and width do not meet the model restrictions. [height:1 or width:1 must be larger than 10]',
        'invalid_request_error',
        'invalid_parameter_error',
      ),
      'image_too_small',
    ],
    [
      400,
      openai('Access denied, please make sure your account is in good standing.', 'Arrearage', 'Arrearage'),
      'provider_unavailable',
      'Arrearage',
      /credential/,
    ],
    [
      400,
      openai('<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 204800]', 'invalid_request_error', null),
      'context_length_exceeded',
    ],
    [404, { code: 'ModelNotFound', message: 'Model can not be found.', request_id: 'r-1' }, 'not_found', 'ModelNotFound'],
    [
      403,
      openai('The free tier of the model has been exhausted.', 'AllocationQuota.FreeTierOnly', 'AllocationQuota.FreeTierOnly'),
      'provider_unavailable',
    ],
    [429, openai('Requests rate limit exceeded, please try again later.', 'limit_requests', 'limit_requests'), 'rate_limit_exceeded'],
  ],
  vLLM: [
    [
      400,
      openai('The decoder prompt (length 5000) is longer than the maximum model length of 4096.', 'BadRequestError', null),
      'context_length_exceeded',
    ],
    [400, openai('Input length 9000 exceeds the maximum allowed length 8192', 'BadRequestError', null), 'context_length_exceeded'],
    [
      400,
      openai('Please ensure that the total tokens of input and output is less than 32768', 'BadRequestError', null),
      'context_length_exceeded',
    ],
    [400, openai('The total number of tokens in the prompt exceeds the limit of 8192', 'BadRequestError', null), 'context_length_exceeded'],
    [
      400,
      {
        object: 'error',
        message: "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens in the messages.",
        type: 'BadRequestError',
        param: null,
        code: 400,
      },
      'context_length_exceeded',
      'BadRequestError',
    ],
    [
      404,
      { object: 'error', message: 'The model `x` does not exist.', type: 'NotFoundError', param: null, code: 404 },
      'not_found',
      'NotFoundError',
    ],
    [
      400,
      { object: 'error', message: 'cannot identify image file <_io.BytesIO object>', type: 'BadRequestError', param: null, code: 400 },
      'invalid_image',
    ],
    [
      422,
      { detail: [{ type: 'missing', loc: ['body', 'model'], msg: 'Field required', input: {} }] },
      'unprocessable',
      undefined,
      'Acme: model: Field required',
    ],
  ],
  'llama.cpp': [
    [
      400,
      {
        error: {
          code: 400,
          message: 'the request exceeds the available context size, try increasing it',
          type: 'exceed_context_size_error',
          n_prompt_tokens: 5030,
          n_ctx: 4096,
        },
      },
      'context_length_exceeded',
      'exceed_context_size_error',
    ],
    [503, { error: { code: 503, message: 'Loading model', type: 'unavailable_error' } }, 'provider_overloaded', 'unavailable_error'],
    [500, { error: { code: 500, message: 'Failed to load image or audio file', type: 'server_error' } }, 'invalid_image'],
  ],
  Ollama: [
    [404, { error: 'model "llama9" not found, try pulling it first' }, 'not_found', undefined, /try pulling it first/],
    [404, openai('model "llama9" not found, try pulling it first', 'api_error', null), 'not_found'],
    [500, { error: 'prompt too long; exceeded max context length by 12 tokens' }, 'context_length_exceeded'],
    [503, { error: 'server busy, please try again.  maximum pending requests exceeded' }, 'provider_overloaded'],
    [500, { error: 'failed to process inputs: image: unknown format' }, 'unsupported_image_format'],
  ],
  'a router': [
    [
      400,
      {
        error: {
          message: 'Provider returned error',
          code: 400,
          metadata: {
            provider_name: 'OpenAI',
            raw: '{"error":{"message":"Your input exceeds the context window of this model.","type":"invalid_request_error","code":"context_length_exceeded"}}',
          },
        },
      },
      'context_length_exceeded',
      'context_length_exceeded',
      'Acme: Your input exceeds the context window of this model.',
    ],
    [
      429,
      {
        error: {
          message: 'Provider returned error',
          code: 429,
          metadata: { provider_name: 'Chutes', raw: 'model x is temporarily rate-limited upstream. Please retry shortly.' },
        },
      },
      'rate_limit_exceeded',
      '429',
      'Acme: model x is temporarily rate-limited upstream. Please retry shortly.',
    ],
    [502, { error: { message: 'Provider returned error', code: 502 } }, 'provider_unavailable', '502', 'Acme answered with status 502.'],
    [
      403,
      {
        error: {
          code: 403,
          message: 'x requires moderation on OpenInference. Your input was flagged for "hate". No credits were charged.',
          metadata: { provider_name: 'OpenInference', model_slug: 'x', reasons: ['hate'], flagged_input: `a${'b'.repeat(200)}c` },
        },
      },
      'content_policy_violation',
    ],
    [
      403,
      { error: { code: 403, message: 'Refused.', metadata: { reasons: ['hate'], flagged_input: 'x' } } },
      'content_policy_violation',
      '403',
      'Acme: Refused.',
    ],
    [400, { error: { message: 'nope/x is not a valid model ID', code: 400 } }, 'not_found'],
    [
      400,
      openai('litellm.BadRequestError: OpenAIException - {"error":{"message":"Content blocked.","code":"content_filter"}}', null, '400'),
      'content_policy_violation',
      'content_filter',
      'Acme: Content blocked.',
    ],
    [
      502,
      { error: { code: 502, message: 'x', metadata: { error_type: 'image_too_small', provider_code: 'tiny' } } },
      'image_too_small',
      'tiny',
    ],
  ],
  'a server of another kind': [
    [
      400,
      [
        {
          error: {
            code: 400,
            message: 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
            status: 'INVALID_ARGUMENT',
          },
        },
      ],
      'context_length_exceeded',
      'INVALID_ARGUMENT',
    ],
    [400, '', 'invalid_request', undefined, 'Acme answered with status 400.'],
    [404, '<html>nginx</html>', 'not_found', undefined, 'Acme answered with status 404.'],
    [412, '', 'precondition_failed'],
    [413, '<html>413 Request Entity Too Large</html>', 'payload_too_large'],
    [418, openai('I am a teapot', 'teapot', 'E_TEAPOT'), 'unmapped', 'E_TEAPOT'],
    [451, '', 'content_policy_violation'],
    [499, '', 'provider_unavailable'],
    [525, '<html>SSL handshake failed</html>', 'provider_unavailable'],
    [599, '', 'timeout'],
  ],
}
