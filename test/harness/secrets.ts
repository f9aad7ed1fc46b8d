import { randomBytes } from 'node:crypto'
import { secretKeyBytes, secretsOf } from '../../src/base/secrets/secrets.ts'
import { signingKeyFinder } from '../../src/domains/dkim/keys.ts'

/** What seals the keys of the domains that tests make. */
export const testSecrets = secretsOf([randomBytes(secretKeyBytes)])

/** The keys that sign for domains, sealed with these or not at all. */
export const signingKeys = signingKeyFinder(testSecrets)
