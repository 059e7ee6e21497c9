/** Against a server that has TLS only, and ends each connection with an error that shows that it was trusted. */
import { readFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { createServer as createTlsServer } from 'node:tls'

import { afterAll, describe, expect, test } from 'bun:test'

import { openDatabase } from '../open-database.ts'
import { parsePostgresUrl, uncheckedServer } from './postgres-address.ts'
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

/** The servers here note as text what they are told. */
let told = ''

/** Agrees to TLS as PostgreSQL does, and passes what follows to a server for TLS. `demand` is sent before the error. */
const startTlsPostgres = async (certificate: 'untrusted' | 'wrong-name', demand?: Buffer): Promise<number> => {
  const pem = readFileSync(join(CERTIFICATES, `${certificate}.pem`), 'utf8')
  const secure = createTlsServer({ key: pem, cert: pem }, (socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => {
      if (demand === undefined) return void socket.end(errorResponse(TRUSTED))
      socket.write(demand)
      socket.once('data', (bytes) => {
        told += bytes.toString('latin1')
        socket.end(errorResponse(TRUSTED))
      })
    })
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

/** An Authentication message: https://www.postgresql.org/docs/current/protocol-message-formats.html */
const authentication = (type: number, ...more: readonly string[]): Buffer => {
  const rest = Buffer.from(more.map((text) => `${text}\0`).join(''), 'latin1')
  const head = Buffer.from('R\0\0\0\0\0\0\0\0')
  head.writeUInt32BE(8 + rest.length, 1)
  head.writeUInt32BE(type, 5)
  return Buffer.concat([head, rest])
}

test.each([
  ['', 'patchbay', false],
  ['?sslmode=require&channel_binding=disable', 'patchbay', false],
  ['?sslmode=require&channel_binding=prefer&application_name=two', 'two', true],
  ['?sslmode=require&channel_binding=require', 'patchbay', true],
])('a URL with %p connects as %p, and binds its password to the certificate where it is offered: %p', (query, name, binds) => {
  expect(parsePostgresUrl(`postgres://u@h/d${query}`)).toMatchObject({ application_name: name, enableChannelBinding: binds })
})

describe('channel_binding=require', () => {
  const openWithPassword = (port: number, query: string) =>
    openDatabase({ databaseUrl: `postgres://user:hunter2@127.0.0.1:${port}/db?${query}`, dataDir: '', exclusive: true, onError: () => {} })

  test.each([
    ['asks for no password', Buffer.concat([authentication(0), Buffer.from('Z\0\0\0\x05I', 'latin1')])],
    ['asks for the password itself', authentication(3)],
    ['asks for a hash of the password', authentication(5, 'abc')],
    ['cannot bind it to the certificate', authentication(10, 'SCRAM-SHA-256', '')],
  ])('a server that %s is told nothing', async (_, demand) => {
    told = ''
    const port = await startTlsPostgres('untrusted', demand)
    expect(await rejectionText(openWithPassword(port, 'sslmode=require&channel_binding=require'))).toContain('does not bind the password')
    expect(told).toBe('')
  })

  test('one that can bind it is asked to', async () => {
    told = ''
    const port = await startTlsPostgres('untrusted', authentication(10, 'SCRAM-SHA-256-PLUS', 'SCRAM-SHA-256', ''))
    expect(await rejectionText(openWithPassword(port, 'sslmode=require&channel_binding=require'))).toContain(TRUSTED)
    expect(told).toMatch(/SCRAM-SHA-256-PLUS\0.{4}p=tls-server-end-point,/s)
  })

  test('prefer takes one that cannot', async () => {
    told = ''
    const port = await startTlsPostgres('untrusted', authentication(10, 'SCRAM-SHA-256', ''))
    expect(await rejectionText(openWithPassword(port, 'sslmode=require&channel_binding=prefer'))).toContain(TRUSTED)
    expect(told).toContain('SCRAM-SHA-256\0')
  })
})

describe('a URL that asks for something that the service does not do is refused in a sentence', () => {
  test.each([
    ['sslmode=prefer', 'must be disable, require, verify-ca or verify-full (it is "prefer")'],
    ['sslmode=verify-ca', 'needs sslrootcert'],
    ['sslmode=require&sslrootcert=system', 'needs sslmode=verify-full'],
    ['sslrootcert=/nowhere', 'sslrootcert of the database URL names cannot be read'],
    ['channel_binding=require', 'has channel_binding=require, which needs TLS'],
    ['channel_binding=yes', 'must be disable, prefer or require (it is "yes")'],
    ['statement_timeout=0', 'an unknown parameter, statement_timeout'],
    ['target_session_attrs=read-write', 'an unknown parameter, target_session_attrs'],
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
