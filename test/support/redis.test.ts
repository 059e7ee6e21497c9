import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'

import { expect, test } from 'bun:test'

import { HAS_REDIS, startRedis } from './redis.ts'
import { until } from './started-service.ts'

const answers = async (url: string): Promise<boolean> => {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

test.skipIf(!HAS_REDIS)('a Redis ends with the process that started it, even where that is killed', async () => {
  const holder = spawn(process.execPath, [join(import.meta.dirname, 'programs/redis-holder.ts')], { stdio: ['pipe', 'pipe', 'inherit'] })
  const [line] = (await once(holder.stdout, 'data')) as [Buffer]
  const url = line.toString().trim()
  expect(await answers(url)).toBe(true)
  holder.kill('SIGKILL')
  await until(async () => !(await answers(url)), 'the end of the Redis')
})

test.skipIf(!HAS_REDIS)('one that is stopped is gone, and its port is free for the next', async () => {
  const first = await startRedis()
  await first.stop()
  expect(await answers(first.url)).toBe(false)
  const second = await startRedis(Number(new URL(first.url).port))
  expect({ url: second.url, answers: await answers(second.url) }).toEqual({ url: first.url, answers: true })
  expect(startRedis(Number(new URL(first.url).port))).rejects.toThrow('does not start')
  await second.stop()
})
