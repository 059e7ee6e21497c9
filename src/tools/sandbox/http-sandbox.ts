/** An operator's own sandbox service: each command is one signed request (docs/shell.md#a-service-of-your-own). */
import { z } from 'zod'

import { signatureHeader } from '../../lib/json/body-signature.ts'
import type { Clock } from '../../lib/clock.ts'
import { objectIn } from '../../lib/json/json.ts'
import { createSafeFetch, UnsafeRequest } from '../../providers/transport/safe-fetch.ts'
import { cutToBytes } from '../../lib/text/cut-to-bytes.ts'
import { noSuchContainer, type Sandbox, SandboxFailure } from './sandbox.ts'
import type { HttpSettings } from './settings.ts'

const answered = z.looseObject({
  stdout: z.string().default(''),
  stderr: z.string().default(''),
  /** Null if the command was ended by its time limit. */
  exit_code: z.int().nullable(),
})

export const createHttpSandbox = ({ url, api_key: secret }: HttpSettings, clock: Clock): Sandbox => {
  const safeFetch = createSafeFetch({ clock, trustedHosts: [new URL(url).host], trustedBy: 'tools.shell.url' })
  return {
    async run({ name, isMade, idleSeconds }, command, { timeoutMs, outputBytes }, signal) {
      const body = JSON.stringify({
        container: name,
        create: isMade,
        sleep_after_seconds: idleSeconds,
        command,
        timeout_ms: timeoutMs,
        max_output: outputBytes,
      })
      const answer = await safeFetch({
        url,
        headers: { 'content-type': 'application/json', accept: 'application/json', ...signatureHeader(secret, body, clock.now()) },
        body,
        timeoutMs: timeoutMs + GRACE_MS,
        maxBytes: ANSWER_MAX_BYTES,
        // A command that is sent twice might run twice.
        redirects: 0,
        signal,
      }).catch((thrown: unknown) => {
        signal.throwIfAborted()
        if (thrown instanceof UnsafeRequest) throw new SandboxFailure(`The sandbox did not answer: ${thrown.message}.`, { cause: thrown })
        throw thrown
      })
      if (answer.status === 404 && !isMade) throw noSuchContainer()
      if (answer.status !== 200) throw new SandboxFailure(`The sandbox answered ${answer.status}.`)
      const read = answered.safeParse(objectIn(answer.text))
      if (!read.success) throw new SandboxFailure('The sandbox gave an answer that cannot be read.')
      const { stdout, stderr, exit_code: exitCode } = read.data
      return { stdout: cutToBytes(stdout, outputBytes), stderr: cutToBytes(stderr, outputBytes), exitCode }
    },
    // The service ends its idle containers itself.
    async end() {},
  }
}

/** Additional time for starting a container and answering. */
const GRACE_MS = 30_000
/** Enough for two outputs with every byte escaped. */
const ANSWER_MAX_BYTES = 1024 * 1024
