import { expect, test } from 'bun:test'

import { installFailure, NotInstalled, Unavailable } from './install-failure.ts'

test.each([
  ['npm', 'install', 'npm error code ENOTFOUND\nnpm error network request to https://registry.npmjs.org/ai failed'],
  ['npm', 'install', 'npm error code ECONNREFUSED\nnpm error errno ECONNREFUSED'],
  [
    'pip',
    'install',
    "WARNING: Retrying after connection broken by 'NewConnectionError'\nERROR: Could not find a version that satisfies the requirement openai==1.0 (from versions: none)",
  ],
  ['go', 'get', 'go: module x: Get "https://proxy.golang.org/x/@v/list": dial tcp: lookup proxy.golang.org: no such host'],
  ['python3', '-m', 'The virtual environment was not created successfully because ensurepip is not available.'],
])('without a registry or a toolchain the client is skipped: %s %s: %s', (program, task, said) => {
  expect(installFailure(program, task, said)).toBeInstanceOf(Unavailable)
})

test.each([
  ['npm', 'install', 'npm error code ETARGET\nnpm error notarget No matching version found for ai@99.0.0.'],
  ['npm', 'install', 'npm error code E404\nnpm error 404 Not Found - GET https://registry.npmjs.org/no-such - Not found'],
  ['pip', 'install', 'ERROR: Could not find a version that satisfies the requirement openai==99 (from versions: 0.1, 1.0)'],
  ['pip', 'install', 'ERROR: No matching distribution found for no-such-package==1'],
  ['go', 'get', 'go: github.com/openai/openai-go@v99.0.0: invalid version: unknown revision v99.0.0'],
  ['go', 'build', 'main.go:3:1: syntax error'],
  ['npm', 'install', 'npm error code ECONNRESET once\nnpm error code E404'],
  ['npm', 'install', ''],
])('a registry that answers, and a package that cannot be built, fail it: %s %s: %s', (program, task, said) => {
  expect(installFailure(program, task, said)).toBeInstanceOf(NotInstalled)
})
