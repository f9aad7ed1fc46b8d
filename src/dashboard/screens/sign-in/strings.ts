export const signInStrings = {
  title: 'Sign in',
  email: 'Email',
  password: 'Password',
  code: 'Code',
  codeHint: 'From your authenticator app, or a backup code.',
  signIn: 'Sign in',
} as const
