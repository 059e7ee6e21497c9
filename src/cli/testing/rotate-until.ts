/** A rotation of the root secret that is killed before the step that its last argument names. */
import { readSettings, STORAGE_SETTINGS } from '../../config.ts'
import { rotateSecretVerb } from '../secret.ts'

const [dataDir = '', killedBefore = ''] = process.argv.slice(2)

await rotateSecretVerb(readSettings(STORAGE_SETTINGS, { dataDir }, {}), (step) => {
  if (step === killedBefore) process.kill(process.pid, 'SIGKILL')
})
