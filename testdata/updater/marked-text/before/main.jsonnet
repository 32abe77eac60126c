{
  _images+:: {
    shop: 'quay.io/bazaar/shop:3.0.4',  // promoter: shop
    unmarked: 'quay.io/bazaar/shop:3.0.4',
    // promoter: seed
    'seed': "quay.io/bazaar/seed:v7",
    version: "3.0.4",  # promoter: shop.tag
    two: ["3.0.4", "3.0.5"],  // promoter: shop.tag
    list: ["--verbose", "--image=quay.io/bazaar/shop:3.0.4"],  /* promoter: shop */
    gone: 'v1', // promoter: other
    kept: 'quay.io/bazaar/shop:3.0.4', // promoter: ignore
  },
}
