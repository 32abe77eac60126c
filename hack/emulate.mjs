// Starts the independent emulator of GitHub's API on loopback and prints its URL:
//
//   node hack/emulate.mjs FOLDER LOGIN...
//
// FOLDER holds its packages, as `hack/tools emulate` prints it. Each account has the
// token token-LOGIN. It runs until it is ended.
import { join } from "node:path"
import { pathToFileURL } from "node:url"

const [folder, ...people] = process.argv.slice(2)
const { createEmulator } = await import(pathToFileURL(join(folder, "emulate", "dist", "api.js")))
const scopes = ["repo", "user", "admin:org", "delete_repo"]
const emulator = await createEmulator({
  service: "github",
  port: 0,
  seed: {
    tokens: Object.fromEntries(people.map((login) => ["token-" + login, { login, scopes }])),
    github: { users: people.map((login) => ({ login })) },
  },
})
console.log(emulator.url.replace("localhost", "127.0.0.1"))
