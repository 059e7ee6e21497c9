/** A provider behind TLS with a certificate of test/fixtures/tls. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createServer } from 'node:tls'

import { listenForTests } from './listen.ts'

const CERTIFICATES = join(import.meta.dir, '../fixtures/tls')

/** For the environment of a service. */
export const TRUSTING = { NODE_EXTRA_CA_CERTS: join(CERTIFICATES, 'trusted.crt') }

export interface TlsUpstream {
  readonly port: number
  /** The number of bytes received through TLS, of a request or of a credential. */
  readonly received: number
}

/** Never responds. Stopped after the tests of the file. Call it while the file loads. */
export const startTlsUpstream = async (certificate: 'untrusted' | 'expired' | 'wrong-name'): Promise<TlsUpstream> => {
  const pem = readFileSync(join(CERTIFICATES, `${certificate}.pem`), 'utf8')
  let received = 0
  const server = createServer({ key: pem, cert: pem }, (socket) => {
    socket.on('error', () => undefined)
    socket.on('data', (bytes: Buffer) => (received += bytes.length))
  })
  server.on('tlsClientError', () => undefined)
  return {
    port: await listenForTests(server),
    get received() {
      return received
    },
  }
}
