import { expect, test } from 'bun:test'

import { z } from 'zod'

import { destinationTestBody } from './destination.ts'
