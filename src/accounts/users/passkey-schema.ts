import { type Static, t } from 'elysia'

const base64url = (maxLength: number) => t.String({ pattern: '^[A-Za-z0-9_-]+$', maxLength })

const credentialId = base64url(1364)

/** What `navigator.credentials.get()` gave: the members of PublicKeyCredential that are needed, in base64url. */
export const assertionSchema = t.Object({
  id: credentialId,
  response: t.Object({
    clientDataJSON: base64url(8192),
    authenticatorData: base64url(8192),
    signature: base64url(8192),
    userHandle: t.Optional(base64url(128)),
  }),
})

/** What `navigator.credentials.create()` gave. */
export const attestationSchema = t.Object({
  id: credentialId,
  response: t.Object({
    clientDataJSON: base64url(8192),
    attestationObject: base64url(65_536),
    transports: t.Optional(t.Array(t.String({ maxLength: 32 }), { maxItems: 16 })),
  }),
})

export type AssertionJson = Static<typeof assertionSchema>
export type AttestationJson = Static<typeof attestationSchema>

/** For the argument of `navigator.credentials.get()`, after its `challenge` is decoded. */
export const assertionOptionsSchema = t.Object({
  challenge: t.String(),
  timeout: t.Number(),
  rpId: t.String(),
  userVerification: t.Literal('required'),
})

const credentialDescriptorSchema = t.Object({
  id: t.String(),
  type: t.Literal('public-key'),
  transports: t.Optional(t.Array(t.String())),
})

/** For the argument of `navigator.credentials.create()`, after `challenge`, `user.id` and the ids are decoded. */
export const registrationOptionsSchema = t.Object({
  challenge: t.String(),
  timeout: t.Number(),
  rp: t.Object({ id: t.String(), name: t.String() }),
  user: t.Object({ id: t.String(), name: t.String(), displayName: t.String() }),
  pubKeyCredParams: t.Array(t.Object({ alg: t.Number(), type: t.Literal('public-key') })),
  excludeCredentials: t.Array(credentialDescriptorSchema),
  authenticatorSelection: t.Object({ residentKey: t.Literal('required'), userVerification: t.Literal('required') }),
})

export type AssertionOptionsJson = Static<typeof assertionOptionsSchema>
export type RegistrationOptionsJson = Static<typeof registrationOptionsSchema>
