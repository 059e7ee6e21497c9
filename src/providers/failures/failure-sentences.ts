/**
 * Sentences by which vendors describe a failure in words alone, each with its error type. A vendor's code that names the fault takes
 * precedence over these, and these over a bare status. Each row is a sentence that some vendor's server sends; vendor-failures.test.ts has
 * them in whole bodies.
 */
import type { ErrorType } from '../../errors.ts'

/** `our_account`: the credential, its rights or its credits at the provider, which belong to this service and not to the client. */
export type FailureKind = ErrorType | 'our_account'

type Rows = readonly (readonly [RegExp, FailureKind])[]

/** Applies under any status. */
const ACCOUNT: Rows = [
  [/credit balance is too low|insufficient (?:account )?(?:balance|credits?|quota|funds)|used all available credits/i, 'our_account'],
  [
    /API usage limits?\b|spend(?:ing)? (?:limit|cap\b)|organization has been disabled|account .{0,40}(?:suspended|overdue|arrears|in good standing)/i,
    'our_account',
  ],
  [/(?:incorrect|invalid|wrong|expired) api[ _]?key|api[ _]?key (?:is )?(?:not valid|invalid|expired|not found|disabled)/i, 'our_account'],
  [
    /(?:balance|credits?|funds) (?:is|are) (?:insufficient|not enough|exhausted|depleted)|not enough (?:balance|credits?)|overdue balance/i,
    'our_account',
  ],
  [/free (?:tier|quota) .{0,40}(?:exhausted|used up)/i, 'our_account'],
  [/余额(?:不足|已用完)|欠费|账[户号][^。]{0,20}(?:锁定|冻结|停用|不存在|非活动)/, 'our_account'],
]

/**
 * For status 412. This service sends providers no condition that could fail: Portkey answers so when the budget of its key is spent,
 * Fireworks when the account is suspended.
 */
const SPENT: Rows = [
  [/(?:usage|budget|spend\w*|credits?|quota)\b.{0,60}\b(?:limit|exceeded|exhausted|reached|used up|spent)/i, 'our_account'],
]

/**
 * Rate limits are recognised before lengths: their sentences mention tokens and limits too, but the client does not have to shorten
 * anything.
 */
const RATE: Rows = [
  [/(?:tokens?|requests?|queries) per (?:second|min|hour|day)|\b(?:TPM|RPM|TPD|RPD|QPS)\b|\brate[ _-]?limit/i, 'rate_limit_exceeded'],
  // MiniMax says this about tokens per minute.
  [/^token limit\b/i, 'rate_limit_exceeded'],
  [/每(?:分钟|秒|小时|天|日)|频率(?!惩罚)|速率|并发/, 'rate_limit_exceeded'],
]

/** For statuses with which servers answer after they judged the content of a request. */
const POLICY: Rows = [
  [
    /content[ _](?:filter|management|safety|polic)|safety (?:system|filter|polic)|usage (?:polic|guideline)|responsible ?ai/i,
    'content_policy_violation',
  ],
  [
    /(?:was|been|got|is|as) flagged|flagged (?:as|by|for)|inappropriate content|content exists risk|considered high risk/i,
    'content_policy_violation',
  ],
  [/prohibited content|sensitive (?:content|information)|blocked by (?:our|the) (?:filter|moderation)/i, 'content_policy_violation'],
  [/may contain .{0,30}(?:sensitive|violation|violence)|unsafe or sensitive|new_sensitive|green ?net check/i, 'content_policy_violation'],
  [/(?<!大小写)敏感|涉敏|违规|违法|不安全|内容安全|安全审核/, 'content_policy_violation'],
  [/the model (?:has )?(?:refused|declined) to/i, 'refusal'],
]

/** For statuses with which servers answer after they read a request. */
const REQUEST: Rows = [
  // A string, a body and an output limit are recognised before the context: their sentences may mention tokens and lengths too.
  [/string (?:is )?too long|string should have at most|at most \d+ characters|maximum string length/i, 'string_too_long'],
  [/max_tokens or model output limit was reached/i, 'max_tokens_exceeded'],
  [/(?:payload|request|body)(?: (?:size|body|entity))? (?:is )?(?:too large|exceeds the limit)/i, 'payload_too_large'],

  [/maximum (?:context|prompt|allowed input) length|context[ _](?:length|window|limit|size)/i, 'context_length_exceeded'],
  [
    /(?:prompt|input|conversation)s?(?: tokens?)?(?: length)? (?:(?:is|are) )?too long|too many (?:input |prompt )?tokens|input tokens? exceed/i,
    'context_length_exceeded',
  ],
  [/total message size \d* ?exceeds|current length is \d+ while (?:the )?limit is \d+/i, 'context_length_exceeded'],
  [
    /token count.{0,40}(?:exceed|only supports)|exceeds the maximum number of tokens|exceeded model token limit/i,
    'context_length_exceeded',
  ],
  [/range of input length should be|reduce the length of (?:the |your )?(?:messages|prompt|input)/i, 'context_length_exceeded'],
  [/inputs?`? (?:tokens \+|must have less than \d+ tokens)|available context size|context the overflows/i, 'context_length_exceeded'],
  [
    /longer than the (?:maximum )?model length|(?:prompt|input) (?:length \(?\d+(?: tokens\))? )?exceeds (?:the )?max/i,
    'context_length_exceeded',
  ],
  [/tokens in (?:the prompt|request) (?:exceed|more than)|total tokens .{0,40}(?:exceed|less than)/i, 'context_length_exceeded'],
  [/prompt_tokens .{0,20}must be less than max_seq_len|maximum supported sequence length/i, 'context_length_exceeded'],
  // A single parameter, a picture or a file has a length limit of its own.
  [/(?:输入|上下文|提示词|对话|文本|prompt|(?<!_)tokens?)[^参图频文件]{0,16}(?:超长|过长|太长|超出|超过|超限)/i, 'context_length_exceeded'],

  [
    /image.{0,80}(?:too small|below the minimum|minimum (?:size|dimension|width|height)|(?:height|width).{0,20}must be larger than)/i,
    'image_too_small',
  ],
  [
    /(?:image|picture).{0,60}(?:too (?:large|big)|exceeds? .{0,40}(?:max|limit|\d ?MB|bytes|pixels))|image (?:exceeds \d|(?:size|dimensions) exceed)/i,
    'image_too_large',
  ],
  [/unsupported image|image\.source\S*media_type|image: unknown format|unsupported mime ?type.{0,20}image\//i, 'unsupported_image_format'],
  [
    /image.{0,60}(?:format|media type|mime ?type).{0,40}(?:not supported|unsupported)|image.{0,40}one of the following formats/i,
    'unsupported_image_format',
  ],
  [/(?:unable to|failed to|error while|timeout while|could not|cannot) ?(?:download|fetch)\w*/i, 'image_download_failed'],
  [/could not be loaded from url|(?:invalid|unsupported) .{0,20}file ur[il]/i, 'image_download_failed'],
  [/no such file object|(?:image|file)\b.{0,60}\b(?:not found|(?:does not|doesn't) exist)/i, 'image_not_found'],
  [/(?:could not|unable to|failed to|cannot) (?:process|load|decode|identify|read) (?:input |the )?image/i, 'invalid_image'],
  [/invalid (?:image|base64)|represent a valid image|image does not match|image.{0,40}(?:corrupt|not valid|unreadable)/i, 'invalid_image'],

  [
    /model\b.{0,80}(?:(?:does not|doesn't|not) exist|not found|can ?not be found|decommissioned|end of its life|is not available)/i,
    'not_found',
  ],
  // NVIDIA, for a model whose servers do not work.
  [/DEGRADED function cannot be invoked/, 'provider_unavailable'],
  [/unknown model\b(?! param)|not activated the model|模型[^。]{0,20}(?:不存在|未开通|已下线)/i, 'not_found'],
  [
    /invalid model\b|is not a valid model|model identifier is invalid|on-demand throughput isn.t supported|legacy and you have not/i,
    'not_found',
  ],
]

/** For statuses of overload: some vendors answer with 429 when they themselves lack capacity. */
const LOAD: Rows = [
  [
    /\boverload|at capacity|capacity (?:temporarily )?exceeded|exceeded capacity|high (?:traffic|demand)|server (?:is )?busy|model is (?:currently )?loading|loading model|访问量过大|系统繁忙|服务繁忙/i,
    'provider_overloaded',
  ],
]

/** `status`: null for an error without one, inside a body or a stream of status 200. */
export const kindOfSentence = (message: string | null, status: number | null): FailureKind | null => {
  if (message === null) return null
  const said = message.slice(0, SAID_MAX)
  const rows = [
    ACCOUNT,
    status === 412 ? SPENT : [],
    status === null || RATED.has(status) ? RATE : [],
    status === null || JUDGED.has(status) ? POLICY : [],
    status === null || READ.has(status) ? REQUEST : [],
    status === null || LOADED.has(status) ? LOAD : [],
  ]
  return rows.flat().find(([sentence]) => sentence.test(said))?.[1] ?? null
}

/** The reason stands at the beginning; the rest may be a whole page. */
const SAID_MAX = 2000

/** 429 is not among these: it means a rate limit by its status alone, or overload by the sentences of LOAD. */
const RATED: ReadonlySet<number> = new Set([400, 413, 422])
const READ: ReadonlySet<number> = new Set([400, 404, 413, 415, 422, 500])
const JUDGED: ReadonlySet<number> = new Set([400, 403, 422, 451, 500])
const LOADED: ReadonlySet<number> = new Set([429, 498, 500, 502, 503])
