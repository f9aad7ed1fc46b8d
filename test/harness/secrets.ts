import { randomBytes } from 'node:crypto'
import { secretKeyBytes, secretsOf } from '../../src/base/secrets/secrets.ts'
import { signingKeyFinder } from '../../src/domains/dkim/keys.ts'

/** The key of {@link testSecrets}. */
export const testSecretKey = randomBytes(secretKeyBytes)

/** Encrypts the DKIM keys of test domains, and the secrets of test webhooks. */
export const testSecrets = secretsOf([testSecretKey])

/** The DKIM keys of domains, encrypted with {@link testSecrets} or not at all. */
export const signingKeys = signingKeyFinder(testSecrets)
