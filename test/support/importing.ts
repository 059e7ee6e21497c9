/** A service, and `patchbay import` run against it with the files of test/fixtures/import. */
import { join } from 'node:path'

import { call } from './calls.ts'
import { type StartedService, useServices } from './started-service.ts'

export const IMPORT_FIXTURES = join(import.meta.dir, '../fixtures/import')

export const startImporting = async () => {
  const services = useServices()
  const service = await services.start()
  const runAt = ({ url, managementKey }: StartedService, args: readonly string[]) =>
    services.run(['import', ...args], { PATCHBAY_URL: url, PATCHBAY_MANAGEMENT_KEY: managementKey })
  const run = (args: readonly string[]) => runAt(service, args)
  return {
    services,
    service,
    runAt,
    run,
    move: (what: string, file: string, ...flags: readonly string[]) => run([what, join(IMPORT_FIXTURES, what, file), ...flags]),
    preset: async (slug: string): Promise<Record<string, unknown> & { designated_version: Record<string, unknown> }> =>
      ((await call(service, 'GET', `/presets/${slug}`)).json as { data: never }).data,
  }
}

/** The lines about places in the file, with only the name of the file. */
export const findings = (stdout: string): string[] =>
  stdout
    .split('\n')
    .filter((line) => /^(?:taken|changed|cannot) /.test(line))
    .map((line) => line.replace(/ +\S*\/(\S+?:\d+:) /, ' $1 '))
