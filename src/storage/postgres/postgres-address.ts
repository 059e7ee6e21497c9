/** Reads a database URL, with the words of libpq (decisions/0157). */
import { readFileSync } from 'node:fs'
import type { ConnectionOptions } from 'node:tls'

import { StorageRefused } from '../storage-errors.ts'

export interface PostgresAddress {
  /** The URL with those parameters only that the driver reads as libpq does. */
  readonly connectionString: string
  readonly ssl: ConnectionOptions | false
  /** Settings for the server, as `-c name=value`. */
  readonly options: string
  readonly application_name: string
  /** The driver then uses it where the server offers it. */
  readonly enableChannelBinding: boolean
  readonly requiresChannelBinding: boolean
}

/** Reads the certificates that the URL names. Throws StorageRefused, with a sentence that repeats no value but those of `sslmode` and `channel_binding`, and paths. */
export const parsePostgresUrl = (databaseUrl: string): PostgresAddress => {
  const [address = '', query = ''] = databaseUrl.split(/\?(.*)/s)
  const parameters = new URLSearchParams(query)
  const unknown = [...parameters.keys()].find((name) => !PARAMETERS.includes(name))
  if (unknown !== undefined) {
    throw new StorageRefused(`The database URL has an unknown parameter, ${unknown}. Known parameters are ${PARAMETERS.join(', ')}.`)
  }
  const passedOn = new URLSearchParams([...parameters].filter(([name]) => PASSED_ON.includes(name)))
  const ssl = readTls(parameters)
  const binding = readBinding(parameters, ssl)
  return {
    connectionString: `${address}?${passedOn.toString()}`,
    ssl,
    options: parameters.get('options') ?? '',
    application_name: parameters.get('application_name') ?? 'patchbay',
    enableChannelBinding: binding !== 'disable',
    requiresChannelBinding: binding === 'require',
  }
}

/** A sentence for the operator, if anybody between this service and the server could pretend to be the server; null otherwise. */
export const uncheckedServer = (databaseUrl: string): string | null => {
  const { ssl } = parsePostgresUrl(databaseUrl)
  return ssl !== false && ssl.rejectUnauthorized === false
    ? 'the certificate of PostgreSQL is not checked, since the database URL has sslmode=require: write sslmode=verify-full'
    : null
}

const PASSED_ON: readonly string[] = ['host', 'port', 'user', 'password']
const PARAMETERS: readonly string[] = [
  ...PASSED_ON,
  'sslmode',
  'sslrootcert',
  'sslcert',
  'sslkey',
  'channel_binding',
  'options',
  'application_name',
]

/** https://www.postgresql.org/docs/current/libpq-ssl.html#LIBPQ-SSL-SSLMODE-STATEMENTS */
const readTls = (parameters: URLSearchParams): ConnectionOptions | false => {
  const files = ['sslrootcert', 'sslcert', 'sslkey'].filter((name) => parameters.has(name))
  const mode = parameters.get('sslmode') ?? (files.length > 0 ? 'verify-full' : 'disable')
  if (mode === 'disable') return false
  const isSystem = parameters.get('sslrootcert') === 'system'
  const identity: ConnectionOptions = {
    ...(parameters.has('sslcert') && { cert: readPem(parameters, 'sslcert') }),
    ...(parameters.has('sslkey') && { key: readPem(parameters, 'sslkey') }),
    ...(parameters.has('sslrootcert') && !isSystem && { ca: readPem(parameters, 'sslrootcert') }),
  }
  if (mode === 'verify-full') return identity
  if (isSystem) throw new StorageRefused('The database URL has sslrootcert=system, which needs sslmode=verify-full.')
  // As in libpq, `require` checks the certificate if it is told who may have signed it.
  if (mode === 'verify-ca' || (mode === 'require' && identity.ca !== undefined)) {
    if (identity.ca !== undefined) return { ...identity, checkServerIdentity: () => undefined }
    throw new StorageRefused(
      'The database URL has sslmode=verify-ca, which needs sslrootcert, the file with the certificate of the authority. sslmode=verify-full also works with public authorities.',
    )
  }
  if (mode === 'require') return { ...identity, rejectUnauthorized: false }
  throw new StorageRefused(
    `The sslmode of the database URL, or of PGSSLMODE, must be disable, require, verify-ca or verify-full (it is ${JSON.stringify(mode)}).`,
  )
}

/** https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNECT-CHANNEL-BINDING, but `disable` by default. */
const readBinding = (parameters: URLSearchParams, ssl: ConnectionOptions | false): string => {
  const binding = parameters.get('channel_binding') ?? 'disable'
  if (!['disable', 'prefer', 'require'].includes(binding)) {
    throw new StorageRefused(
      `The channel_binding of the database URL, or PGCHANNELBINDING, must be disable, prefer or require (it is ${JSON.stringify(binding)}).`,
    )
  }
  if (binding === 'require' && ssl === false)
    throw new StorageRefused('The database URL has channel_binding=require, which needs TLS: add sslmode.')
  return binding
}

const readPem = (parameters: URLSearchParams, name: string): Buffer => {
  const path = parameters.get(name) ?? ''
  try {
    return readFileSync(path)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new StorageRefused(`The file that ${name} of the database URL names cannot be read (${reason}).`, { cause })
  }
}
