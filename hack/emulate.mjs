// Starts the independent emulator of GitHub's API on loopback and prints its URL:
//
//   node hack/emulate.mjs FOLDER '{"users": [{"login": "ann"}], "orgs": [...]}'
//
// FOLDER holds its packages, as `hack/tools emulate` prints it. Each user has the token
// token-LOGIN. It runs until it is ended.
import { join } from "node:path"
import { pathToFileURL } from "node:url"

const [folder, text] = process.argv.slice(2)
const { createEmulator } = await import(pathToFileURL(join(folder, "emulate", "dist", "api.js")))
const github = JSON.parse(text)
const scopes = ["repo", "user", "admin:org", "delete_repo"]
const tokens = Object.fromEntries(github.users.map(({ login }) => ["token-" + login, { login, scopes }]))
const emulator = await createEmulator({ service: "github", port: 0, seed: { tokens, github } })
console.log(emulator.url.replace("localhost", "127.0.0.1"))
