/**
 * Why a client could not be installed. If its registry or its toolchain is missing, the client is skipped; any other fault, such as a
 * version that the registry does not have, is a fault of the suite and fails it.
 */

/** There is no toolchain, or no registry. */
export class Unavailable extends Error {}

/** A pinned version does not exist, or a package cannot be built. */
export class NotInstalled extends Error {}

/** `said`: all output of the program before it failed. */
export const installFailure = (program: string, task: string, said: string): Unavailable | NotInstalled => {
  const reason = `${program} ${task} failed: ${said.trim().split('\n').slice(-3).join(' ').slice(-400)}`
  return ABSENT.test(said) && !ANSWERED.test(said) ? new Unavailable(reason) : new NotInstalled(reason)
}

/** The messages of npm, pip and go if they reach no server, and of Python if its module for environments is missing. */
const ABSENT =
  /\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT)\b|NewConnectionError|ConnectTimeoutError|ReadTimeoutError|ProxyError|name resolution|dial tcp|no such host|i\/o timeout|ensurepip is not available/

/** A registry that answers names the package or version that it does not have. */
const ANSWERED = /\b(?:E404|ETARGET|E403)\b|404 Not Found|unknown revision|\(from versions: (?!none\))/
