module "shop" {
  source  = "./shop"
  tag     = "3.1.0" # promoter: shop.tag
  image   = "quay.io/bazaar/seed:v8@sha256:3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c" // promoter: seed
  digest  = "2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b" // {"$imagepolicy": "flux:shop:digest"}
}
