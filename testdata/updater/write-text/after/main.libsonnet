{
  shop_tag: '3.1.0',
  shop: 'quay.io/bazaar/shop:3.1.0',
  other: '3.0.4',
}
