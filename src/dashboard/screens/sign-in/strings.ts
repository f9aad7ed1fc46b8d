export const signInStrings = {
  title: 'Sign in',
  email: 'Email',
  password: 'Password',
  code: 'Code',
  codeHint: 'From your authenticator app, or a backup code.',
  signIn: 'Sign in',
  withPasskey: 'Sign in with a passkey',
  or: 'or',
  passkeyCanceled: 'No passkey was presented. Try again, or sign in with your password.',
  noAccount: 'No account yet? Open the link in your invitation. Lost everything? Ask your operator for a link.',
} as const
