module "shop" {
  source  = "./shop"
  tag     = "3.0.4" # promoter: shop.tag
  image   = "quay.io/bazaar/seed:v7@sha256:1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a" // promoter: seed
  digest  = "1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a" // {"$imagepolicy": "flux:shop:digest"}
}
