import { randomBytes } from 'node:crypto'
import { secretKeyBytes, secretsOf } from '../../src/base/secrets/secrets.ts'
import { signingKeyFinder } from '../../src/domains/dkim/keys.ts'

/** Encrypts the DKIM keys of test domains. */
export const testSecrets = secretsOf([randomBytes(secretKeyBytes)])

/** The DKIM keys of domains, encrypted with {@link testSecrets} or not at all. */
export const signingKeys = signingKeyFinder(testSecrets)
