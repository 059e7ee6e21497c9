/**
 * Why a client could not be installed. Where its registry or its toolchain is not there, the client is skipped; anything
 * else, such as a version that the registry does not have, is a fault of the suite, and fails.
 */

/** No toolchain, or no registry. */
export class Unavailable extends Error {}

/** A pin that cannot be had, a package that cannot be built. */
export class NotInstalled extends Error {}

/** `said`: all that the program printed before it failed. */
export const installFailure = (program: string, task: string, said: string): Unavailable | NotInstalled => {
  const reason = `${program} ${task} failed: ${said.trim().split('\n').slice(-3).join(' ').slice(-400)}`
  return ABSENT.test(said) && !ANSWERED.test(said) ? new Unavailable(reason) : new NotInstalled(reason)
}

/** The sentences of npm, pip and go where nobody answers them, and of Python where it comes without its module for environments. */
const ABSENT =
  /\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT)\b|NewConnectionError|ConnectTimeoutError|ReadTimeoutError|ProxyError|name resolution|dial tcp|no such host|i\/o timeout|ensurepip is not available/

/** A registry that is there says which package or version it does not have. */
const ANSWERED = /\b(?:E404|ETARGET|E403)\b|404 Not Found|unknown revision|\(from versions: (?!none\))/
