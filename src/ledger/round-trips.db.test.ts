/** The statements of an admission and of a settlement on their way to a server that is far away. */
import { connect, createServer, type AddressInfo } from 'node:net'

import { afterAll, expect, test } from 'bun:test'

import { describeEachEngine } from '../../test/support/databases.ts'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import { limitOf, openNode, prepareMoney } from './ledger.test-kit.ts'

const closing: (() => void)[] = []
afterAll(() => closing.forEach((close) => close()))

/** A relay: after `withhold`, once a client has sent `from`, it gets no answer before it has sent `to`. */
const startRelay = async (target: string) => {
  const { hostname, port } = new URL(target)
  const passed: string[] = []
  let step: { readonly from: string; readonly to: string } | null = null
  const server = createServer((socket) => {
    const onward = connect(Number(port), hostname)
    let isWithheld = false
    socket.on('data', (bytes) => {
      const sent = bytes.toString('latin1')
      if (step !== null && sent.includes(step.from)) {
        isWithheld = true
        onward.pause()
      }
      if (step !== null && isWithheld && sent.includes(step.to)) {
        passed.push(step.to)
        step = null
        onward.resume()
      }
      onward.write(bytes)
    })
    onward.on('data', (bytes) => void socket.write(bytes))
    socket.on('error', () => undefined).on('close', () => onward.destroy())
    onward.on('error', () => undefined).on('close', () => socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => server.close())
  const url = new URL(target)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  return { url: url.href, passed, withhold: (from: string, to: string) => void (step = { from, to }) }
}

describeEachEngine('a distant server', (engine) => {
  if (engine.name === 'sqlite') return

  const prepare = async () => {
    const location = await engine.locate()
    const clock = createFakeClock()
    const { spender } = await prepareMoney(await engine.open(location), clock, 1)
    const relay = await startRelay(location.databaseUrl ?? '')
    const node = openNode(await engine.open({ ...location, databaseUrl: relay.url }), clock)
    const limited = spender(0, limitOf(1000))
    return { relay, node, begin: () => Promise.all(Array.from({ length: 20 }, () => node.begin(limited, 10))) }
  }

  test('is not waited for between the statements that an admission makes under its locks', async () => {
    const { relay, begin } = await prepare()
    relay.withhold('update scope_window', 'insert into "hold_scope"')
    await begin()
    expect(relay.passed).toEqual(['insert into "hold_scope"'])
  })

  test.each([
    ['writes records and releases holds', 'insert into "generations"', 'delete from "hold"'],
    ['adds to sums and locks windows', 'insert into "activity_days"', 'from scope_window'],
    ['changes what it has locked', 'update scope_window', 'insert into "workspace_spend"'],
  ])('is not waited for between the statements with which a settlement %s', async (_, from, to) => {
    const { relay, node, begin } = await prepare()
    const running = await begin()
    relay.withhold(from, to)
    await node.settle(running.map((each) => each.settlement(5)))
    expect(relay.passed).toEqual([to])
  })
})
