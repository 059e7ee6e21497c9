/** Against a server that has TLS only, and ends each connection with an error that shows that it was trusted. */
import { readFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { createServer as createTlsServer } from 'node:tls'

import { afterAll, describe, expect, test } from 'bun:test'

import { openDatabase } from '../open-database.ts'
import { uncheckedServer } from './postgres-address.ts'
import { rejection, rejectionText } from '../testing/rejection.ts'

const CERTIFICATES = join(import.meta.dir, '../../../test/fixtures/tls')
const TRUSTED = 'the server was trusted'

/** The driver gives each of its warnings once for a process. */
const warnings: unknown[] = []
const noteWarning = (warning: unknown): void => void warnings.push(warning)
process.on('warning', noteWarning)
afterAll(() => process.off('warning', noteWarning))

const servers: Server[] = []
afterAll(() => servers.forEach((server) => server.close()))

const portOf = async (server: Server): Promise<number> => {
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

/** An ErrorResponse of PostgreSQL's protocol. */
const errorResponse = (message: string): Buffer => {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C28000\0M${message}\0\0`)
  const head = Buffer.from('E\0\0\0\0')
  head.writeUInt32BE(4 + fields.length, 1)
  return Buffer.concat([head, fields])
}

/** Agrees to TLS as PostgreSQL does, and passes what follows to a server for TLS. */
const startTlsPostgres = async (certificate: 'untrusted' | 'wrong-name'): Promise<number> => {
  const pem = readFileSync(join(CERTIFICATES, `${certificate}.pem`), 'utf8')
  const secure = createTlsServer({ key: pem, cert: pem }, (socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => socket.end(errorResponse(TRUSTED)))
  })
  secure.on('tlsClientError', () => undefined)
  const securePort = await portOf(secure)
  return portOf(
    createServer((socket) => {
      socket.on('error', () => undefined)
      socket.once('data', () => {
        const onward = connect(securePort, '127.0.0.1')
        onward.on('error', () => undefined)
        socket.pipe(onward).pipe(socket)
        socket.write('S')
      })
    }),
  )
}

const [selfSigned, wrongName] = [await startTlsPostgres('untrusted'), await startTlsPostgres('wrong-name')]
const withoutTls = await portOf(createServer((socket) => socket.once('data', () => socket.end('N')).on('error', () => undefined)))

const open = (port: number, query: string) =>
  openDatabase({ databaseUrl: `postgres://user@127.0.0.1:${port}/db?${query}`, dataDir: '', exclusive: true, onError: () => {} })

const root = (certificate: string): string => `sslrootcert=${encodeURIComponent(join(CERTIFICATES, `${certificate}.pem`))}`

describe("sslmode means the same as in PostgreSQL's own programs", () => {
  test.each([
    ['require takes any certificate', selfSigned, 'sslmode=require', TRUSTED],
    ['require checks who signed it if sslrootcert says who may', selfSigned, `sslmode=require&${root('wrong-name')}`, 'certificate'],
    ['require, and the server has no TLS', withoutTls, 'sslmode=require', 'does not support SSL'],
    ['verify-ca checks who signed it', selfSigned, `sslmode=verify-ca&${root('wrong-name')}`, 'certificate'],
    ['verify-ca does not check the name', wrongName, `sslmode=verify-ca&${root('wrong-name')}`, TRUSTED],
    ['verify-full checks the name', wrongName, `sslmode=verify-full&${root('wrong-name')}`, 'does not match'],
    ['verify-full takes a certificate for the name', selfSigned, `sslmode=verify-full&${root('untrusted')}`, TRUSTED],
    ['verify-full alone trusts the public authorities', selfSigned, 'sslmode=verify-full', 'certificate'],
    ['sslrootcert alone is verify-full', wrongName, root('wrong-name'), 'does not match'],
  ])('%s', async (_, port, query, reason) => {
    expect(await rejectionText(open(port, query))).toContain(reason)
  })

  test('the driver prints no warning of its own, which would stand between the JSON lines of the log', async () => {
    await rejection(open(selfSigned, 'sslmode=require'))
    // Warnings are emitted in the next turn.
    await new Promise((resolve) => setImmediate(resolve))
    expect(warnings).toEqual([])
  })
})

describe('a URL that asks for something that the service does not do is refused in a sentence', () => {
  test.each([
    ['sslmode=prefer', 'must be disable, require, verify-ca or verify-full (it is "prefer")'],
    ['sslmode=verify-ca', 'needs sslrootcert'],
    ['sslmode=require&sslrootcert=system', 'needs sslmode=verify-full'],
    ['sslrootcert=/nowhere', 'sslrootcert of the database URL names cannot be read'],
    ['statement_timeout=0', 'a parameter that is not known, statement_timeout'],
    ['target_session_attrs=read-write', 'a parameter that is not known, target_session_attrs'],
  ])('%s', async (query, reason) => {
    expect(await rejection(open(withoutTls, query))).toMatchObject({ name: 'StorageRefused', message: expect.stringContaining(reason) })
  })
})

test.each([
  ['sslmode=require', true],
  [`sslmode=require&sslrootcert=${CERTIFICATES}/untrusted.pem`, false],
  ['sslmode=verify-full', false],
  ['', false],
])('a server whose certificate nobody checks is reported, and no other: %s', (parameters, reported) => {
  expect(uncheckedServer(`postgres://a@127.0.0.1/b?${parameters}`) !== null).toBe(reported)
})
